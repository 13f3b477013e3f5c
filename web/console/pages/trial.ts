// A Trial asks the box questions with an unsaved prompt. It keeps one conversation for as long as the prompt stays the
// same.
import type { ServerMessage } from "../../wire";

export interface Answer {
  text: string;
  // Milliseconds from the question to the first words, the first sound and the end of the answer.
  words?: number;
  sound?: number;
  whole?: number;
}

export class Trial {
  private ws?: WebSocket;
  private prompt = "";
  private failed?: (err: Error) => void;
  private take?: (m: ServerMessage) => void;

  // ask sends a question and calls came with the answer so far, whenever it grows. It resolves when the answer is
  // complete, and rejects with the box's error message.
  async ask(prompt: string, question: string, came: (a: Answer) => void): Promise<void> {
    if (prompt !== this.prompt || this.ws?.readyState !== WebSocket.OPEN) await this.open(prompt);
    const asked = performance.now();
    const since = () => Math.round(performance.now() - asked);
    let a: Answer = { text: "" };
    await new Promise<void>((done, fails) => {
      this.failed = fails;
      this.take = (m) => {
        if (m.type === "error") fails(new Error(m.message));
        if (m.type === "assistant_message")
          a = { ...a, text: [a.text, m.message.content].filter(Boolean).join(" "), words: a.words ?? since() };
        if (m.type === "audio_output") a = { ...a, sound: a.sound ?? since() };
        if (m.type === "assistant_end") a = { ...a, whole: since() };
        came(a);
        if (m.type === "assistant_end") done();
      };
      this.ws!.send(JSON.stringify({ type: "user_input", text: question }));
    });
  }

  private open(prompt: string): Promise<void> {
    this.close();
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    const ws = (this.ws = new WebSocket(`${scheme}//${location.host}/v0/evi/chat?keep_history=false`));
    this.prompt = prompt;
    return new Promise((opens, fails) => {
      this.failed = fails;
      this.take = (m) => {
        if (m.type === "error") fails(new Error(m.message));
        if (m.type !== "chat_metadata") return;
        ws.send(JSON.stringify({ type: "session_settings", system_prompt: prompt }));
        opens();
      };
      ws.onmessage = ({ data }) => this.take?.(JSON.parse(data as string) as ServerMessage);
      ws.onerror = () =>
        this.failed?.(
          new Error("The box cannot start a conversation now. It may be full, or still loading its models."),
        );
      ws.onclose = ({ reason }) => this.failed?.(new Error(reason || "The conversation is over."));
    });
  }

  close(): void {
    this.failed = this.take = undefined;
    if (this.ws) this.ws.onclose = this.ws.onerror = this.ws.onmessage = null;
    this.ws?.close(1000);
    this.ws = undefined;
  }
}
