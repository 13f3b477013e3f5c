import { type Word, language, word } from "./words";

export type State = "ready" | "connecting" | "listening" | "thinking" | "speaking" | "tool" | "offline" | "error";

const at = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

// The page itself: what is shown and heard of the conversation.
export const view = {
  pairing: at("pairing"), stage: at("stage"), name: at("name"), state: at("state"), log: at("log"), lines: at<HTMLOListElement>("lines"),
  talk: at<HTMLButtonElement>("talk"), stop: at<HTMLButtonElement>("stop"), type: at<HTMLButtonElement>("type"),
  typing: at<HTMLFormElement>("typing"), text: at<HTMLInputElement>("text"),
  pair: at<HTMLFormElement>("pair"), code: at<HTMLInputElement>("code"), pairError: at("pairError"),
};

// most is how many captions stay: what people have read is gone from the screen
// before the next person comes.
const most = 30;

export function translate(): void {
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll<HTMLElement>("[data-word]")) element.textContent = word(element.dataset.word as Word);
  for (const element of document.querySelectorAll<HTMLElement>("[data-label]")) element.ariaLabel = word(element.dataset.label as Word);
}

export function show(state: State, said: string = word(state === "error" ? "offline" : state)): void {
  if (view.stage.dataset.state !== state) view.stage.dataset.state = state;
  if (view.state.textContent !== said) view.state.textContent = said;
  const talking = !["ready", "offline", "error"].includes(state);
  view.talk.hidden = talking;
  view.talk.disabled = state === "offline";
  view.stop.hidden = !talking;
}

// caption shows a line of the conversation; the one of the same id is replaced.
export function caption(who: "you" | "box" | "note", text: string, id = "", interim = false): void {
  let line = id ? view.lines.querySelector<HTMLLIElement>(`li[data-id="${CSS.escape(id)}"]`) : null;
  if (!line) {
    line = document.createElement("li");
    line.dataset.who = who;
    line.dataset.id = id;
    view.lines.append(line);
    while (view.lines.children.length > most) view.lines.firstElementChild!.remove();
  }
  line.classList.toggle("interim", interim);
  const speaker = document.createElement("span");
  speaker.className = "who";
  speaker.textContent = who === "note" ? "" : `${word(who)}: `;
  line.replaceChildren(speaker, text);
  view.log.scrollTop = view.log.scrollHeight;
}

export function forget(id: string): void { view.lines.querySelector(`li[data-id="${CSS.escape(id)}"]`)?.remove(); }

export function clear(): void { view.lines.replaceChildren(); }

// follow has the picture follow a loudness, as often as the screen is drawn,
// until it is told to stop. A voice rises at once and falls within a fifth of a
// second, as a needle does.
export function follow(level: () => number): () => void {
  let shown = 0, frame = 0, last = performance.now();
  const draw = (now: number) => {
    const wanted = level(), fall = Math.exp(-(now - last) / 120);
    last = now;
    shown = Math.max(wanted, shown * fall);
    document.documentElement.style.setProperty("--level", shown.toFixed(3));
    frame = requestAnimationFrame(draw);
  };
  frame = requestAnimationFrame(draw);
  return () => {
    cancelAnimationFrame(frame);
    document.documentElement.style.setProperty("--level", "0");
  };
}
