import type { ServerMessage } from "../../wire";
import { type Line, Refusal } from "../../talk/line";
import { type NoMicrophone, microphone } from "../../talk/microphone";
import { connect } from "../../talk/connect";
import { type Pairing, onChanged, remember, remembered } from "./pairing";
import { type State, caption, clear, follow, forget, show, translate, typing, view } from "./view";
import { type Word, word } from "./words";

// How long the assistant counts as speaking after its last sound: the pause
// between two sentences.
const pauseMS = 700;
// How long captions and unsent text stay after a conversation: long enough to finish reading.
const readMS = 60_000;
// How long the page waits for the browser's microphone prompt before it explains the prompt itself.
const askMS = 1500;
// When the page checks whether the box is back: soon at first, then every 10 s.
const againMS = [1000, 2000, 4000, 10_000];

// Messages for a visitor when the microphone is not available.
const deaf: Record<NoMicrophone, Word> = { insecure: "noHTTPS", refused: "microphoneRefused", none: "noMicrophone" };

let pairing = remembered();
let conversation: Conversation | null = null;
let clearing = 0;
let opened: string | null = null;
void edition().then((e) => {
  opened = e;
});

translate();
view.pair.addEventListener("submit", (e) => {
  e.preventDefault();
  void pair(view.code.value);
});
view.talk.addEventListener("click", () => void begin(true));
view.stop.addEventListener("click", () => conversation?.stop());
view.type.addEventListener("click", () => typing(Boolean(view.typing.hidden)));
view.typing.addEventListener("submit", (e) => {
  e.preventDefault();
  void type(view.text.value.trim());
});
document.addEventListener("keydown", (e) => {
  if (e.key === "Escape") conversation?.stop();
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void conversation?.wake();
});
addEventListener("pagehide", () => conversation?.stop());
view.text.addEventListener("input", () => {
  if (!conversation) tidyLater();
});
onChanged(() => {
  if (!conversation) adopt(remembered());
});

const code = location.hash.slice(1);
if (code) {
  history.replaceState(null, "", location.pathname + location.search); // a code works once
  void pair(code);
} else {
  enter();
}

// adopt stores a pairing for this screen and uses it.
function adopt(p: Pairing | null): void {
  pairing = p;
  enter();
}

// enter shows the conversation page of a paired screen, or the pairing page.
function enter(): void {
  view.pairing.hidden = pairing !== null;
  view.stage.hidden = pairing === null;
  if (!pairing) return view.code.focus();
  view.name.textContent = pairing.name;
  show("ready");
  if (!isSecureContext) caption("note", word("noHTTPS")); // so that the person who installs the screen sees it at once
}

let sending = false; // a code works once: a second press of the button must not send it again

async function pair(code: string): Promise<void> {
  if (sending) return;
  sending = true;
  view.pairError.textContent = "";
  const answer = await fetch("/v0/box/kiosks", {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code }),
  }).catch(() => null);
  if (answer?.ok) {
    const made = await answer.json();
    pairing = { key: made.api_key, name: made.name };
    remember(pairing);
  } else {
    view.pairError.textContent = word(
      !answer || answer.status >= 500 ? "pairFailed" : answer.status === 429 ? "pairBusy" : "pairWrong",
    );
  }
  sending = false;
  enter();
}

// unpair deletes a pairing whose key the box has refused. Another tab may have paired the screen meanwhile, and this
// page may have adopted that pairing already.
function unpair(refused: string): void {
  const now = remembered();
  if (now && now.key !== refused) return adopt(now);
  remember(null);
  adopt(null);
  view.pairError.textContent = word("revoked");
}

// tidyLater clears the screen for the next visitor after a while.
function tidyLater(): void {
  clearTimeout(clearing);
  clearing = window.setTimeout(() => {
    clear();
    view.text.value = "";
    typing(false);
  }, readMS);
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
  const c = conversation ?? (await begin(false));
  if (!c) return; // keeps the typed text for another try
  view.text.value = "";
  c.type(text);
}

class Conversation {
  private line: Line | null = null;
  private microphone: MediaStream | null = null;
  private readonly context = new AudioContext();
  private readonly typed: string[] = []; // typed before the connection was ready
  private lost = false;
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
    if (withVoice && !this.hears(await this.asked())) return false;
    const on = {
      message: (m: ServerMessage) => this.message(m),
      over: (code: number, reason: string) => this.over(code, reason),
      lost: (yes: boolean) => {
        this.lost = yes;
      },
    };
    let line: Line;
    try {
      this.line = line = await connect({ key: this.key, query: {} }, this.microphone, this.context, on);
    } catch (err) {
      if (this.ended) return false; // stopped before it began
      view.text.value ||= this.typed.join(" "); // for another try
      this.release();
      if (conversation === this) conversation = null;
      await this.failed(err);
      return false;
    }
    if (this.ended) {
      line.hangUp();
      return false;
    }
    for (const text of this.typed.splice(0)) this.type(text);
    this.unfollow = follow(() => this.look(line));
    await this.wake();
    return true;
  }

  // asked requests the microphone. Browsers show their prompt in a corner, where visitors overlook it.
  private async asked(): Promise<MediaStream | NoMicrophone> {
    const asking = setTimeout(() => {
      if (!this.ended) show("connecting", word("allow"));
    }, askMS);
    const got = await microphone();
    clearTimeout(asking);
    if (!this.ended) show("connecting");
    return got;
  }

  // hears opens the microphone, or explains why it cannot; the visitor may type then. It returns false when the
  // conversation was stopped during the browser's prompt.
  private hears(got: MediaStream | NoMicrophone): boolean {
    if (typeof got === "string") {
      if (this.ended) return false;
      caption("note", word(deaf[got]));
      typing(true);
      return true;
    }
    this.microphone = got;
    if (this.ended) {
      this.release();
      return false;
    }
    for (const track of got.getTracks())
      track.onended = () => {
        // unplugged, or no longer allowed
        this.microphone = null;
        caption("note", word("noMicrophone"));
        typing(true);
      };
    return true;
  }

  // failed explains why the conversation did not start. When the connection gives no reason, it checks whether the
  // key is still valid.
  private async failed(err: unknown): Promise<void> {
    const status =
      err instanceof Refusal
        ? err.status
        : await fetch("/v0/evi/configs", { headers: { "x-service-api-key": this.key } }).then(
            (r) => (r.status === 401 ? 401 : 0),
            () => 0,
          );
    if (status === 401 || (err instanceof Refusal && status === 403)) unpair(this.key);
    else if (status === 429 || status === 503) show("ready", word("full"));
    else void awaitBox();
  }

  // wake keeps the screen on. The browser ends that when the page is hidden.
  async wake(): Promise<void> {
    if (this.context.state !== "closed") void this.context.resume(); // a device that slept may have suspended the sound
    const screen = (await navigator.wakeLock?.request("screen").catch(() => null)) ?? null;
    if (this.ended) void screen?.release();
    else this.screen = screen;
  }

  // look shows who speaks and how loud.
  private look(line: Line): number {
    const heard = line.heard(),
      now = performance.now();
    if (heard > 0.15) this.soundAt = now;
    let state: State = "listening";
    if (this.lost) state = "connecting";
    else if (now - this.soundAt < pauseMS) state = "speaking";
    else if (this.tool) state = "tool";
    else if (this.answering) state = "thinking";
    show(state, word(state === "listening" && !this.microphone ? "typeNow" : state));
    return state === "speaking" ? heard : line.said();
  }

  private message(m: ServerMessage): void {
    switch (m.type) {
      case "user_message":
        caption("you", m.message.content ?? "", { id: `you${this.interim}`, interim: m.interim, language: m.language });
        if (m.interim) break;
        this.interim++;
        this.answering = true;
        break;
      case "assistant_message":
        forget("tool");
        caption("box", m.message.content ?? "", { id: m.id, language: m.language });
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
        if (m.code === "E0732") break; // the key is revoked: the page shows its own message
        if (m.code === "E0714" || m.code === "E0715") break; // the chat reached its time limit: not an error
        // The box's message is for its operator; the visitor sees what to do.
        caption("note", word("failed"), { id: "failed" });
        caption("detail", `${m.message} (${m.code})`, { id: "detail", language: "en" });
        break;
    }
  }

  type(text: string): void {
    if (this.line) this.line.send({ type: "user_input", text });
    else this.typed.push(text);
  }

  stop(): void {
    if (this.line) this.line.hangUp();
    else this.over(1000);
  }

  private over(code: number, reason = ""): void {
    if (this.ended) return;
    this.release();
    if (conversation === this) conversation = null;
    tidyLater();
    if (reason === "key_revoked") return unpair(this.key);
    if (code === 1006 || code === 1001 || code === 1012) return void awaitBox();
    show("ready", word("over"));
    setTimeout(() => {
      if (view.state.textContent === word("over")) show("ready");
    }, 4000);
  }

  private release(): void {
    this.ended = true;
    this.unfollow();
    for (const track of this.microphone?.getTracks() ?? []) track.stop();
    void this.context.close();
    void this.screen?.release();
  }
}

// awaitBox waits until the box is back. It reloads the page when the box has another version of it.
async function awaitBox(): Promise<void> {
  show("offline");
  for (let n = 0; pairing && !conversation; n++) {
    await new Promise((again) => setTimeout(again, againMS[Math.min(n, againMS.length - 1)]));
    const answer = await fetch("/readyz").catch(() => null);
    if (!answer?.ok || conversation) continue;
    const now = await edition();
    if (opened && now && now !== opened && remembered()) return location.reload();
    return show("ready");
  }
}

// edition returns the name of the script that the box serves now.
async function edition(): Promise<string | null> {
  return fetch("/kiosk/kiosk.js", { method: "HEAD", cache: "no-store" }).then(
    (r) => r.headers.get("etag"),
    () => null,
  );
}
