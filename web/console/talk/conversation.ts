import type { EmotionScores, ServerMessage, ToolCallMessage } from "../../wire";
import type { ReturnTurn, ReturnTurns } from "../../rest";
import { type Line, Refusal } from "../../talk/line";
import { type NoMicrophone, microphone } from "../../talk/microphone";
import { connect } from "../../talk/connect";
import { Refused, get } from "../api";

// A Said is a line of the transcript.
export interface Said {
  id: string;
  who: "you" | "box" | "note";
  text: string;
  interim?: boolean;
  cut?: boolean;
  scores?: EmotionScores;
}
// A Call is a tool call of the assistant. wanted is true while the client has to answer it.
export interface Call {
  id: string;
  name: string;
  parameters: string;
  wanted: boolean;
  answer?: string;
  error?: string;
}
// A Felt holds the expression scores of one utterance, and when it began in seconds of the chat.
export interface Felt {
  at: number;
  who: "you" | "box";
  text: string;
  scores: EmotionScores;
}

// Talk is the state of a conversation that the page shows.
export interface Talk {
  phase: "idle" | "connecting" | "live" | "over";
  said: Said[];
  calls: Call[];
  felt: Felt[];
  turns: ReturnTurn[];
  chatID: string;
  by: string;
  microphone: boolean;
  lost: boolean;
  doing: "listening" | "thinking" | "speaking" | "tool";
  notice: string;
}

export const nothing: Talk = {
  phase: "idle",
  said: [],
  calls: [],
  felt: [],
  turns: [],
  chatID: "",
  by: "",
  microphone: false,
  lost: false,
  doing: "listening",
  notice: "",
};

// How long the assistant counts as speaking after its last sound: the pause between
// two sentences.
const pauseMS = 700;
// How often the page checks who speaks.
const lookMS = 100;
// The turns' timings are fetched this long after a message, because the sound that completes a turn leaves after the
// message with its words.
const settledMS = 300;

// Why the microphone is not available.
const deaf: Record<NoMicrophone, string> = {
  insecure: "Browsers allow the microphone only on https pages and on the machine itself. You can type.",
  refused: "The browser blocks the microphone for this page. Allow it next to the address. You can type.",
  none: "There is no microphone, or another program uses it. You can type.",
};

export interface Wishes {
  microphone: boolean;
  query: Record<string, string>;
}

// Conversation is a live conversation with the box. It follows the messages and calls changed with the new state.
export class Conversation {
  private talk: Talk;
  private line: Line | null = null;
  private stream: MediaStream | null = null;
  private readonly context = new AudioContext();
  private began = performance.now();
  private interims = 0;
  private lines = 0;
  private answering = false;
  private readonly typed: string[] = []; // typed before the connection was ready
  private soundAt = 0;
  private looking = 0;
  private asking = 0;
  private ended = false;

  constructor(private readonly changed: (talk: Talk) => void) {
    this.talk = { ...nothing, phase: "connecting" };
    changed(this.talk);
  }

  private set(part: Partial<Talk>): void {
    this.changed((this.talk = { ...this.talk, ...part }));
  }

  async begin(wishes: Wishes): Promise<void> {
    void this.context.resume();
    if (wishes.microphone) {
      const got = await microphone();
      if (typeof got === "string") this.note(deaf[got]);
      else this.stream = got;
      if (this.ended) return this.letGo(); // stopped while the browser asked for it
    }
    let line: Line;
    try {
      line = await connect({ key: null, query: wishes.query }, this.stream, this.context, {
        message: (m) => this.message(m),
        over: (code, reason) => this.over(code, reason),
        lost: (yes) => {
          if (yes !== this.talk.lost) this.set({ lost: yes });
        },
      });
    } catch (err) {
      return this.over(0, err instanceof Refusal ? refused(err) : "The box does not answer.");
    }
    if (this.ended) return line.hangUp();
    this.line = line;
    this.looking = window.setInterval(() => this.look(line), lookMS);
    this.set({ phase: "live", by: line.by, microphone: this.stream !== null });
    for (const text of this.typed.splice(0)) this.type(text);
  }

  type(text: string): void {
    if (this.line) this.line.send({ type: "user_input", text });
    else this.typed.push(text);
  }

  answer(call: Call, content: string): void {
    this.line?.send({ type: "tool_response", tool_call_id: call.id, tool_name: call.name, content });
    this.called(call.id, { wanted: false, answer: content });
  }

  fail(call: Call, error: string): void {
    this.line?.send({ type: "tool_error", tool_call_id: call.id, error });
    this.called(call.id, { wanted: false, error });
  }

  // levels returns the loudness of both sides, 0 to 1.
  levels(): { you: number; box: number } {
    return { you: this.line?.said() ?? 0, box: this.line?.heard() ?? 0 };
  }

  stop(): void {
    void this.askTurns();
    if (this.line) this.line.hangUp();
    else this.over(1000, "");
  }

  private message(m: ServerMessage): void {
    switch (m.type) {
      case "chat_metadata":
        this.began = performance.now();
        return this.set({ chatID: m.chat_id });
      case "user_message": {
        const id = `you${this.interims}`,
          scores = m.models.prosody?.scores;
        this.say({ id, who: "you", text: m.message.content ?? "", interim: m.interim, scores });
        if (m.interim) return;
        this.interims++;
        this.answering = true;
        return this.feel("you", m.message.content ?? "", scores);
      }
      case "assistant_message":
        return this.say({ id: m.id ?? this.newID(), who: "box", text: m.message.content ?? "" });
      case "assistant_prosody": {
        this.soon();
        const scores = m.models.prosody?.scores,
          line = this.talk.said.find((s) => s.id === m.id);
        if (line && scores) this.say({ ...line, scores });
        return this.feel("box", line?.text ?? "", scores);
      }
      case "assistant_end":
        this.answering = false;
        return this.soon();
      case "user_interruption": {
        this.answering = false;
        this.soon();
        const last = this.talk.said.filter((s) => s.who === "box").at(-1);
        if (last) this.say({ ...last, cut: true });
        return;
      }
      case "tool_call":
        return this.set({ calls: [...this.talk.calls, callOf(m)] });
      case "tool_response":
        return this.called(m.tool_call_id, { wanted: false, answer: m.content });
      case "tool_error":
        return this.called(m.tool_call_id, { wanted: false, error: m.error });
      case "error":
        this.answering = false;
        return this.note(`${m.message} (${m.code})`);
    }
  }

  private note(text: string): void {
    this.say({ id: this.newID(), who: "note", text });
  }

  // newID numbers lines that have no id from the box.
  private newID(): string {
    return `line${this.lines++}`;
  }

  // say shows a line, or replaces the line with the same id.
  private say(line: Said): void {
    const at = this.talk.said.findIndex((s) => s.id === line.id);
    const said = [...this.talk.said];
    said[at < 0 ? said.length : at] = line;
    this.set({ said });
  }

  private feel(who: "you" | "box", text: string, scores?: EmotionScores): void {
    if (scores)
      this.set({ felt: [...this.talk.felt, { at: (performance.now() - this.began) / 1000, who, text, scores }] });
  }

  private called(id: string, part: Partial<Call>): void {
    this.set({ calls: this.talk.calls.map((c) => (c.id === id ? { ...c, ...part } : c)) });
  }

  private look(line: Line): void {
    const now = performance.now();
    if (line.heard() > 0.15) this.soundAt = now;
    let doing: Talk["doing"] = "listening";
    if (now - this.soundAt < pauseMS) doing = "speaking";
    else if (this.talk.calls.some((c) => c.answer === undefined && c.error === undefined)) doing = "tool";
    else if (this.answering) doing = "thinking";
    if (doing !== this.talk.doing) this.set({ doing });
  }

  private soon(): void {
    clearTimeout(this.asking);
    this.asking = window.setTimeout(() => void this.askTurns(), settledMS);
  }

  private async askTurns(): Promise<void> {
    if (!this.talk.chatID) return;
    const told = await get<ReturnTurns>(`/v0/evi/chat/${this.talk.chatID}/turns`).catch((err: Error) => {
      if (err instanceof Refused) return null; // the chat is over, and its times with it
      throw err;
    });
    if (told) this.set({ turns: told.turns });
  }

  private letGo(): void {
    for (const track of this.stream?.getTracks() ?? []) track.stop();
  }

  private over(code: number, reason: string): void {
    if (this.ended) return;
    this.ended = true;
    clearInterval(this.looking);
    clearTimeout(this.asking);
    this.letGo();
    void this.context.close();
    // the session is over: the console asks for a link
    if (reason === "key_revoked") void get("/v0/box/operator").catch(() => {});
    this.set({
      phase: "over",
      notice: ends(code, reason),
      calls: this.talk.calls.map((c) => ({ ...c, wanted: false })),
    });
  }
}

const callOf = (m: ToolCallMessage): Call => ({
  id: m.tool_call_id,
  name: m.name,
  parameters: m.parameters,
  wanted: m.response_required,
});

// refused returns the box's message of a refusal.
function refused(err: Refusal): string {
  try {
    return JSON.parse(err.message).message;
  } catch {
    return `The box refuses the conversation (${err.status}).`;
  }
}

function ends(code: number, reason: string): string {
  if (code === 1000)
    return reason ? `The conversation is over: ${reason.replaceAll("_", " ")}.` : "The conversation is over.";
  if (code === 0) return reason;
  return reason ? `The box ended the conversation: ${reason.replaceAll("_", " ")}.` : "The connection was lost.";
}
