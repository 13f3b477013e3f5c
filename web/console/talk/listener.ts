import type { ServerMessage } from "../../wire";
import { Clips } from "../../talk/clips";
import type { Said } from "./conversation";

// Heard is what a listener shows of a chat.
export interface Heard {
  said: Said[];
  over?: string; // why the listening ended
}

// Listener follows a live chat through the control plane: its messages, and the assistant's voice. It calls changed
// with each new state.
export class Listener {
  private heard: Heard = { said: [] };
  private readonly context = new AudioContext();
  private readonly clips = new Clips(this.context);
  private readonly ws: WebSocket;
  private lines = 0;

  constructor(
    chatID: string,
    private readonly changed: (heard: Heard) => void,
  ) {
    void this.context.resume();
    const scheme = location.protocol === "https:" ? "wss:" : "ws:";
    this.ws = new WebSocket(`${scheme}//${location.host}/v0/evi/chat/${encodeURIComponent(chatID)}/connect`);
    this.ws.onmessage = ({ data }) => this.message(JSON.parse(data) as ServerMessage);
    this.ws.onclose = ({ code, reason }) =>
      this.set({ over: code === 1000 ? "The conversation is over." : reason || "The box does not answer." });
  }

  // mute stops or resumes the assistant's voice.
  mute(yes: boolean): void {
    void (yes ? this.context.suspend() : this.context.resume());
  }

  stop(): void {
    this.ws.onclose = null;
    this.ws.close(1000);
    this.clips.stop();
    void this.context.close();
  }

  private set(part: Partial<Heard>): void {
    this.changed((this.heard = { ...this.heard, ...part }));
  }

  private say(line: Said): void {
    const said = [...this.heard.said],
      at = said.findIndex((s) => s.id === line.id);
    said.splice(at < 0 ? said.length : at, 1, line);
    this.set({ said });
  }

  private message(m: ServerMessage): void {
    switch (m.type) {
      case "audio_output":
        return void this.clips.play(m.data);
      case "user_message":
        this.say({ id: `user${this.lines}`, who: "you", text: m.message.content ?? "", interim: m.interim });
        if (!m.interim) this.lines++;
        return;
      case "assistant_message":
        return this.say({ id: m.id ?? `box${this.lines++}`, who: "box", text: m.message.content ?? "" });
      case "user_interruption": {
        this.clips.stop();
        const last = this.heard.said.filter((s) => s.who === "box").at(-1);
        if (last) this.say({ ...last, cut: true });
        return;
      }
      case "tool_call":
        return this.say({ id: m.tool_call_id, who: "note", text: `Tool ${m.name} ${m.parameters}` });
    }
  }
}
