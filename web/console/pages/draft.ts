// A Draft is a config while it is edited: the body of the next POST, possibly incomplete.
import type { ReturnConfig } from "../../rest";

export type Draft = Record<string, unknown>;

const steps = (path: string) => path.replace(/\[(\d+)\]/g, ".$1").split(".");

// at returns the value at a path of a draft, such as timeouts.inactivity.enabled.
export function at(draft: Draft, path: string): unknown {
  return steps(path).reduce<unknown>((v, step) => (v as Draft | undefined)?.[step], draft);
}

// put returns the draft with another value at a path. It removes undefined values and objects that become empty, but
// keeps the entries of lists in their positions.
export function put(draft: Draft, path: string, value: unknown): Draft {
  return set(draft, steps(path), value) as Draft;
}

function set(before: unknown, [step, ...rest]: string[], value: unknown): unknown {
  if (step === undefined) return value;
  const all: Draft | unknown[] = Array.isArray(before) ? [...before] : { ...(before as Draft) };
  const fields = all as Draft;
  fields[step] = set(fields[step], rest, value);
  if (fields[step] !== undefined && !(rest.length > 0 && isEmpty(fields[step]))) return all;
  if (Array.isArray(all)) fields[step] = {};
  else delete fields[step];
  return all;
}

const isEmpty = (v: unknown) => typeof v === "object" && v !== null && !Array.isArray(v) && Object.keys(v).length === 0;

// fresh is the draft of a new config.
export const fresh: Draft = { evi_version: "4-mini" };

// draftOf returns the body that makes a config like this one. It includes the defaults, so that they stay the same on a
// box with other defaults.
export function draftOf(c: ReturnConfig): Draft {
  const version = (r: { version: number; version_type: string }) =>
    r.version_type === "FIXED" ? r.version : undefined;
  const draft: Draft = {
    evi_version: c.evi_version,
    examples: c.examples,
    answers: c.answers,
    prompt_expansion: c.prompt_expansion,
    language_model: c.language_model,
    ellm_model: c.ellm_model,
    prompt: c.prompt && { id: c.prompt.id, version: version(c.prompt), prompt_expansion: c.prompt.prompt_expansion },
    voice: c.voice && { id: c.voice.id, provider: c.voice.provider },
    tools: c.tools.map((t) => ({ id: t.id, version: version(t) })),
    builtin_tools: c.builtin_tools.map(({ name, fallback_content, destinations }) => ({
      name,
      fallback_content,
      destinations,
    })),
    event_messages: c.event_messages,
    timeouts: c.timeouts,
    turn_detection: c.turn_detection,
    interruption: c.interruption,
    nudges: c.nudges,
    webhooks: c.webhooks,
  };
  return JSON.parse(JSON.stringify(draft)) as Draft; // without what is undefined
}

// sorted renders a draft as JSON with sorted keys: equal drafts give equal texts.
export function sorted(value: unknown): string {
  return JSON.stringify(
    value,
    (_, v: unknown) =>
      typeof v === "object" && v !== null && !Array.isArray(v)
        ? Object.fromEntries(
            Object.entries(v)
              .filter(([, x]) => x !== undefined)
              .sort(([a], [b]) => (a < b ? -1 : 1)),
          )
        : v,
    2,
  );
}
