// What the pages say of telephone calls.
import type { PhoneCall } from "../../rest";

export const states: Record<PhoneCall["state"], string> = {
  ringing: "ringing",
  answered: "answered",
  talking: "talking",
  transferring: "handing over",
  joined: "handed over",
  ended: "ended",
};

export const answers: Record<NonNullable<PhoneCall["answered_by"]>, string> = {
  person: "a person",
  mailbox: "mailbox",
  busy: "busy",
  no_answer: "no answer",
  rejected: "rejected",
  wrong_number: "wrong number",
  failed: "failed",
};

// from names the other side of a call.
export const from = (call: PhoneCall) =>
  call.direction === "outbound" ? call.to : (call.from ?? "a withheld number");

// byPhone says who called, or was called, in a chat by telephone; undefined for other chats. metadata is that of the
// chat.
export function byPhone(metadata: string | undefined): string | undefined {
  if (!metadata) return undefined;
  let told: { call?: Partial<PhoneCall>; twilio?: { caller_number?: string | null } } | null;
  try {
    told = JSON.parse(metadata);
  } catch {
    return undefined; // shortened
  }
  const call = told?.call;
  if (!call?.direction) return undefined;
  if (call.direction === "inbound") return `from ${told?.twilio?.caller_number ?? "a withheld number"}`;
  const other = call.answered_by && call.answered_by !== "person" && answers[call.answered_by];
  return `to ${call.to ?? "a number"}${other ? `, ${other}` : ""}`;
}
