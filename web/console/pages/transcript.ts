// Turns the events of a chat into transcript lines with their positions in the recording.
import type { ReturnChatEvent } from "../../rest";

export interface Feeling {
  name: string;
  score: number;
}

export interface Line {
  id: string;
  kind: "user" | "agent" | "tool" | "note";
  at: number; // ms in the recording, and since the chat began
  heard: boolean; // it has a position in the recording
  text: string;
  name?: string; // of a tool
  detail?: string; // of a tool: its answer
  failed?: boolean; // of a tool
  typed?: boolean;
  interrupted?: boolean;
  quick?: boolean;
  answer?: string; // the id of the approved answer that was said
  feelings: Feeling[]; // the strongest first
}

interface Noted {
  from_text?: boolean;
  time?: { begin: number; end: number };
  begin?: number;
  interrupted?: boolean;
  is_quick_response?: boolean;
  tool_call_id?: string;
  name?: string;
  error?: string;
  answer_id?: string;
}

function json<T>(text: string | undefined): Partial<T> {
  try {
    return (JSON.parse(text ?? "{}") as Partial<T> | null) ?? {};
  } catch {
    return {};
  }
}

// feelings returns the strongest scores above a threshold.
export function feelings(scores: string | undefined, most = 3): Feeling[] {
  return Object.entries(json<Record<string, number>>(scores))
    .map(([name, score]) => ({ name, score: score as number }))
    .filter((f) => f.score >= 0.05)
    .sort((a, b) => b.score - a.score)
    .slice(0, most);
}

const notes: Partial<Record<ReturnChatEvent["type"], string>> = {
  USER_INTERRUPTION: "The user interrupted the assistant",
  PAUSE_ONSET: "The assistant was paused",
  RESUME_ONSET: "The assistant was resumed",
};

// transcript returns the lines of a chat that began at the given time (Unix ms).
export function transcript(events: ReturnChatEvent[], began: number): Line[] {
  const lines: Line[] = [];
  const calls = new Map<string, Line>();
  const byEvent = new Map<string, Line>();
  for (const e of events) {
    const m: Noted = json<Noted>(e.metadata);
    const line: Line = {
      id: e.id,
      kind: "note",
      at: Math.max(0, e.timestamp - began),
      heard: false,
      text: e.message_text ?? "",
      feelings: [],
    };
    switch (e.type) {
      case "USER_MESSAGE":
        Object.assign(line, {
          kind: "user",
          at: m.time?.begin ?? line.at,
          heard: !m.from_text,
          typed: !!m.from_text,
          feelings: feelings(e.emotion_features),
        });
        break;
      case "AGENT_MESSAGE":
        Object.assign(line, {
          kind: "agent",
          at: m.begin ?? line.at,
          heard: true,
          interrupted: !!m.interrupted,
          quick: !!m.is_quick_response,
          answer: m.answer_id,
        });
        break;
      case "ASSISTANT_PROSODY": {
        const said = byEvent.get(e.related_event_id ?? "");
        if (said) said.feelings = feelings(e.emotion_features);
        continue;
      }
      case "FUNCTION_CALL":
        Object.assign(line, { kind: "tool", name: m.name ?? "a tool" });
        if (m.tool_call_id) calls.set(m.tool_call_id, line);
        break;
      case "FUNCTION_CALL_RESPONSE": {
        const call = calls.get(m.tool_call_id ?? "");
        if (call)
          Object.assign(call, {
            detail: m.error ? `${m.error}${e.message_text ? `\n${e.message_text}` : ""}` : (e.message_text ?? ""),
            failed: !!m.error,
          });
        continue;
      }
      default: {
        const note = notes[e.type];
        if (!note) continue;
        line.text = note;
      }
    }
    byEvent.set(e.id, line);
    lines.push(line);
  }
  return lines
    .map((line, i) => ({ line, i }))
    .sort((a, b) => a.line.at - b.line.at || a.i - b.i)
    .map(({ line }) => line);
}

// current returns the newest line that is spoken at a time of the recording.
export function current(lines: Line[], ms: number): Line | undefined {
  return lines.filter((l) => l.heard && l.at <= ms).at(-1);
}

// clock formats a position in a recording: 1:05, or 1:02:05.
export function clock(ms: number): string {
  const s = Math.floor(ms / 1000),
    two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(s / 3600),
    minutes = Math.floor(s / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
}

// asText renders a transcript as plain text.
export function asText(lines: Line[]): string {
  const who = { user: "User", agent: "Assistant", tool: "Tool", note: "" };
  return (
    lines
      .map((l) => {
        const said =
          l.kind === "tool" ? `${l.name} ${l.text}${l.detail === undefined ? "" : ` → ${l.detail}`}` : l.text;
        return `[${clock(l.at)}] ${who[l.kind] ? `${who[l.kind]}: ` : ""}${said}`;
      })
      .join("\n") + "\n"
  );
}
