import type { ServerMessage } from "../../wire";
import { call } from "./call";
import { type Line, Refusal } from "./line";
import { socket } from "./socket";
import { type State, caption, clear, follow, forget, show, translate, view } from "./view";
import { word } from "./words";

// What the browser keeps of the pairing.
const kept = "parley.kiosk";
interface Pairing { key: string; name: string }

// How long the assistant counts as speaking after its last sound: the pause
// between two sentences.
const pauseMS = 700;
// How long captions stay after a conversation: long enough to read on.
const readMS = 60_000;
// When the box is asked whether it is back: soon at first, then every 10 s.
const againMS = [1000, 2000, 4000, 10_000];

let pairing: Pairing | null = JSON.parse(localStorage.getItem(kept) ?? "null");
let conversation: Conversation | null = null;
let clearing = 0;

translate();
view.pair.addEventListener("submit", (e) => { e.preventDefault(); void pair(view.code.value); });
view.talk.addEventListener("click", () => void begin(true));
view.stop.addEventListener("click", () => conversation?.stop());
view.type.addEventListener("click", () => {
  view.typing.hidden = !view.typing.hidden;
  view.type.setAttribute("aria-expanded", String(!view.typing.hidden));
  if (!view.typing.hidden) view.text.focus();
});
view.typing.addEventListener("submit", (e) => { e.preventDefault(); void type(view.text.value.trim()); });
document.addEventListener("keydown", (e) => { if (e.key === "Escape") conversation?.stop(); });
addEventListener("pagehide", () => conversation?.stop());

const code = location.hash.slice(1);
if (code) {
  history.replaceState(null, "", location.pathname + location.search); // the code is good once
  void pair(code);
} else {
  enter();
}

// enter shows the page that fits: of a screen that is paired, or is not.
function enter(): void {
  view.pairing.hidden = pairing !== null;
  view.stage.hidden = pairing === null;
  if (!pairing) return view.code.focus();
  view.name.textContent = pairing.name;
  show("ready");
}

async function pair(code: string): Promise<void> {
  view.pairError.textContent = "";
  const answer = await fetch("/v0/box/kiosks", { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ code }) }).catch(() => null);
  if (answer?.ok) {
    const made = await answer.json();
    pairing = { key: made.api_key, name: made.name };
    localStorage.setItem(kept, JSON.stringify(pairing));
  } else {
    view.pairError.textContent = word(!answer || answer.status >= 500 ? "pairFailed" : answer.status === 429 ? "pairBusy" : "pairWrong");
  }
  enter();
}

// unpair forgets a pairing that the box has ended.
function unpair(): void {
  localStorage.removeItem(kept);
  pairing = null;
  enter();
  view.pairError.textContent = word("revoked");
}

async function begin(withVoice: boolean): Promise<Conversation | null> {
  if (conversation || !pairing) return conversation;
  clearTimeout(clearing);
  clear();
  const c = new Conversation(pairing.key);
  conversation = c;
  if (await c.begin(withVoice)) return c;
  if (conversation === c) conversation = null;
  return null;
}

async function type(text: string): Promise<void> {
  if (!text) return;
  const c = conversation ?? await begin(false);
  if (!c) return;
  view.text.value = "";
  c.type(text);
}

class Conversation {
  private line: Line | null = null;
  private microphone: MediaStream | null = null;
  private readonly context = new AudioContext();
  private unfollow = () => {};
  private ended = false;
  private answering = false; // between the user's words and the end of the answer
  private tool = false;
  private soundAt = 0;
  private interim = 0;
  private screen: WakeLockSentinel | null = null;

  constructor(private readonly key: string) {}

  async begin(withVoice: boolean): Promise<boolean> {
    show("connecting");
    void this.context.resume();
    if (withVoice) {
      this.microphone = await navigator.mediaDevices?.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true } }).catch(() => null) ?? null;
      if (!this.microphone) caption("note", word("noMicrophone"));
    }
    const on = { message: (m: ServerMessage) => this.message(m), over: (code: number, reason: string) => this.over(code, reason) };
    try {
      this.line = await call(this.key, this.microphone, this.context, on)
        .catch((err) => err instanceof Refusal && err.status !== 503 ? Promise.reject(err) : socket(this.key, this.microphone, this.context, on));
    } catch (err) {
      this.release();
      if (conversation === this) conversation = null;
      if (err instanceof Refusal && (err.status === 401 || err.status === 403)) unpair();
      else if (err instanceof Refusal && (err.status === 429 || err.status === 503)) show("ready", word("full"));
      else void awaitBox();
      return false;
    }
    if (this.ended) {
      this.line.hangUp();
      return false;
    }
    const line = this.line;
    this.unfollow = follow(() => this.look(line));
    this.screen = await navigator.wakeLock?.request("screen").catch(() => null) ?? null;
    return true;
  }

  // look tells how loud whoever speaks is, and shows who does.
  private look(line: Line): number {
    const heard = line.heard(), now = performance.now();
    if (heard > 0.15) this.soundAt = now;
    let state: State = "listening";
    if (now - this.soundAt < pauseMS) state = "speaking";
    else if (this.tool) state = "tool";
    else if (this.answering) state = "thinking";
    show(state);
    return state === "speaking" ? heard : line.said();
  }

  private message(m: ServerMessage): void {
    switch (m.type) {
      case "user_message":
        caption("you", m.message.content ?? "", `you${this.interim}`, m.interim);
        if (m.interim) break;
        this.interim++;
        this.answering = true;
        break;
      case "assistant_message":
        forget("tool");
        caption("box", m.message.content ?? "", m.id ?? "");
        this.tool = false;
        break;
      case "assistant_end":
      case "user_interruption":
        this.answering = this.tool = false;
        break;
      case "tool_call":
        this.tool = true;
        break;
      case "tool_response":
      case "tool_error":
        this.tool = false;
        break;
      case "error":
        this.answering = this.tool = false;
        caption("note", m.message);
        break;
    }
  }

  type(text: string): void {
    this.line?.send({ type: "user_input", text });
  }

  stop(): void {
    if (this.line) this.line.hangUp();
    else this.over(1000);
  }

  private over(code: number, reason = ""): void {
    if (this.ended) return;
    this.release();
    if (conversation === this) conversation = null;
    clearing = window.setTimeout(clear, readMS);
    if (reason === "key_revoked") return unpair();
    if (code === 1006 || code === 1001 || code === 1012) return void awaitBox();
    show("ready", word("over"));
    setTimeout(() => { if (view.state.textContent === word("over")) show("ready"); }, 4000);
  }

  private release(): void {
    this.ended = true;
    this.unfollow();
    for (const track of this.microphone?.getTracks() ?? []) track.stop();
    void this.context.close();
    void this.screen?.release();
  }
}

// awaitBox waits for a box that is gone to come back.
async function awaitBox(): Promise<void> {
  show("offline");
  for (let n = 0; pairing && !conversation; n++) {
    await new Promise((again) => setTimeout(again, againMS[Math.min(n, againMS.length - 1)]));
    const answer = await fetch("/readyz").catch(() => null);
    if (answer?.ok) return show("ready");
  }
}
