import type { FleetItem, ReturnFleetBox } from "../../rest";
import { when } from "../parts/time";

const kinds: Record<string, string> = {
  config: "Config",
  prompt: "Prompt",
  tool: "Tool",
  voice: "Voice",
  lexicon: "Pronunciations",
  plugin: "Plugin",
  setting: "Setting",
};

export const kindWords = (kind: string) => kinds[kind] ?? kind;

// itemWords names an item: Config Guide, Pronunciations of museum.
export function itemWords(item: FleetItem): string {
  if (item.kind === "lexicon") return `Pronunciations of ${item.account || "the account"}`;
  return `${kindWords(item.kind)} ${item.name || item.id}`;
}

// contentWords says which version or value of an item it is.
export function contentWords(of: { version?: number; content?: string; remove?: boolean }): string {
  if (of.remove) return "taken off";
  if (of.version !== undefined) return `version ${of.version}`;
  return of.content ?? "";
}

// targetWords turns all, group:NAME or box:NAME into words.
export function targetWords(target: string): string {
  if (target === "all") return "all boxes";
  return target.replace(":", " ");
}

const states: Record<string, [string, string]> = {
  canary: ["on canaries", "tag warn"],
  rolling: ["rolling out", "tag warn"],
  done: ["done", "tag"],
  stopped: ["stopped", "tag plain"],
  failed: ["failed", "tag bad"],
  waiting: ["waiting", "tag plain"],
  running: ["running", "tag"],
  replaced: ["replaced", "tag plain"],
};

// StateTag is the state of a roll-out, or of a box in one.
export function StateTag({ state }: { state: string }) {
  const [words, look] = states[state] ?? [state, "tag plain"];
  return <span class={look}>{words}</span>;
}

// Presence is whether a box is online and ready.
export function Presence({ b }: { b: ReturnFleetBox }) {
  if (!b.seen_on || !b.state) return <span class="tag plain">never seen</span>;
  if (!b.online)
    return (
      <>
        <span class="tag bad">offline</span> <span class="faint">since {when(new Date(b.seen_on))}</span>
      </>
    );
  if (!b.state.ready) return <span class="tag bad">not ready</span>;
  return <span class="tag">online</span>;
}

// Runs is whether a box runs what it should.
export function Runs({ b }: { b: ReturnFleetBox }) {
  const s = b.state;
  if (!s) return <span class="faint">–</span>;
  if (s.why)
    return (
      <>
        <span class="tag bad">cannot apply</span> <span class="clipped">{s.why}</span>
      </>
    );
  if (s.running < b.wanted) return <span class="tag warn">{b.online ? "applying" : "behind"}</span>;
  if (s.waits)
    return (
      <>
        <span class="tag warn">waits</span> <span class="clipped">{s.waits}</span>
      </>
    );
  return <span class="tag">up to date</span>;
}

// problemsOf returns what the operator should look at on a box.
export function problemsOf(b: ReturnFleetBox): string[] {
  const s = b.state;
  if (!s || !b.seen_on) return [];
  if (!b.online) return [`It was heard of last ${when(new Date(b.seen_on))}.`];
  return [...(s.why ? [`It does not run what it should: ${s.why}`] : []), ...complaintsOf(b)];
}

// complaintsOf returns what a box that is online complains of.
export function complaintsOf({ online, state: s }: ReturnFleetBox): string[] {
  if (!s || !online) return [];
  const unready = s.ready ? [] : [`No chat can start: ${s.missing?.join("; ") || "it does not say why"}`];
  return [...unready, ...(s.problems ?? [])];
}

export const celsius = (degrees: number | undefined) =>
  degrees === undefined ? "–" : `${Math.round(degrees)}\u00a0°C`;
