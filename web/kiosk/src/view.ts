import { type Word, direction, language, word } from "./words";

export type State = "ready" | "connecting" | "listening" | "thinking" | "speaking" | "tool" | "offline";

const at = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

// The view of the conversation: what the visitor sees and hears.
export const view = {
  pairing: at("pairing"),
  stage: at("stage"),
  name: at("name"),
  glow: at("glow"),
  core: at("core"),
  state: at("state"),
  log: at("log"),
  lines: at<HTMLOListElement>("lines"),
  talk: at<HTMLButtonElement>("talk"),
  stop: at<HTMLButtonElement>("stop"),
  type: at<HTMLButtonElement>("type"),
  typing: at<HTMLFormElement>("typing"),
  text: at<HTMLInputElement>("text"),
  pair: at<HTMLFormElement>("pair"),
  code: at<HTMLInputElement>("code"),
  pairError: at("pairError"),
};

// most is how many captions stay, so that read captions leave the screen before the next visitor comes.
const most = 30;

export function translate(): void {
  document.documentElement.lang = language;
  document.documentElement.dir = direction;
  document.title = word("talk");
  for (const element of document.querySelectorAll<HTMLElement>("[data-word]"))
    element.textContent = word(element.dataset.word as Word);
  for (const element of document.querySelectorAll<HTMLElement>("[data-label]"))
    element.ariaLabel = word(element.dataset.label as Word);
}

let shown = ""; // called with every frame: leave the page alone when nothing changed

export function show(state: State, said: string = word(state)): void {
  if (shown === state + said) return;
  shown = state + said;
  if (view.stage.dataset.state !== state) view.stage.dataset.state = state;
  if (view.state.textContent !== said) view.state.textContent = said;
  const talking = !["ready", "offline"].includes(state),
    at = document.activeElement;
  view.talk.hidden = talking;
  view.talk.disabled = state === "offline";
  view.stop.hidden = !talking;
  // Keeps the focus in the row of buttons when the focused button disappears.
  if (talking && at === view.talk) view.stop.focus();
  if (!talking && at === view.stop) view.talk.focus();
}

// typing shows or hides the text field.
export function typing(open: boolean): void {
  view.typing.hidden = !open;
  view.type.setAttribute("aria-expanded", String(open));
  if (open) view.text.focus();
}

interface Of {
  id?: string;
  interim?: boolean;
  language?: string;
}

// caption shows a line of the conversation or a note with a detail, and replaces the one with the same id. Screen
// readers do not read an unfinished line: they would repeat it with every word.
export function caption(
  who: "you" | "box" | "note" | "detail",
  text: string,
  { id = "", interim = false, language }: Of = {},
): void {
  const before = id ? view.lines.querySelector<HTMLLIElement>(`li[data-id="${CSS.escape(id)}"]`) : null;
  const line = document.createElement("li"),
    speaker = document.createElement("span");
  line.dataset.who = who;
  line.dataset.id = id;
  line.classList.toggle("interim", interim);
  line.ariaHidden = interim ? "true" : null;
  speaker.className = "who";
  speaker.textContent = who === "you" || who === "box" ? `${word(who)}: ` : "";
  const said = document.createElement("p");
  if (language) said.lang = language; // so that screen readers use a voice of that language
  said.dir = "auto"; // captions are in the language of the talk, which may run from right to left
  said.textContent = text;
  line.append(speaker, said);
  if (before) before.replaceWith(line);
  else view.lines.append(line);
  while (view.lines.children.length > most) view.lines.firstElementChild!.remove();
  toEnd();
}

// toEnd scrolls to the newest caption, also after the screen was rotated.
const toEnd = () => {
  view.log.scrollTop = view.log.scrollHeight;
};
new ResizeObserver(toEnd).observe(view.log);

export function forget(id: string): void {
  view.lines.querySelector(`li[data-id="${CSS.escape(id)}"]`)?.remove();
}

export function clear(): void {
  view.lines.replaceChildren();
}

// loud sets the size of the picture. It changes only the moving element: a variable on the whole page would recompute
// the style of every caption sixty times a second.
function loud(level: number): void {
  view.glow.style.transform = `scale(${(0.8 + 0.5 * level).toFixed(3)})`;
  view.core.style.transform = `scale(${(0.62 + 0.2 * level).toFixed(3)})`;
}

// follow animates the picture after a loudness with every frame, until it is stopped. The picture grows at once and
// shrinks within a fifth of a second, like the needle of a meter.
export function follow(level: () => number): () => void {
  let shown = 0,
    drawn = 0,
    frame = 0,
    last = performance.now();
  const draw = (now: number) => {
    const wanted = level(),
      fall = Math.exp(-(now - last) / 120);
    last = now;
    shown = Math.max(wanted, shown * fall);
    if (Math.abs(shown - drawn) > 0.004) loud((drawn = shown));
    frame = requestAnimationFrame(draw);
  };
  frame = requestAnimationFrame(draw);
  return () => {
    cancelAnimationFrame(frame);
    loud(0);
  };
}
