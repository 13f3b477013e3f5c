// The cells of an act in the audit log.
import type { ReturnAct } from "../../rest";
import { browser } from "./sessions";

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

// words turns a name of the API, such as voice_alias, into words for people.
export const words = (name: string) => capital(name.replaceAll("_", " "));

// Who is who did an act, and from where.
export function Who({ a }: { a: ReturnAct }) {
  const { kind, id, name, role } = a.who;
  const named = {
    key: `Key ${name || id}`,
    session: `Console session ${id}`,
    screen: `Screen ${name || id}`,
    user: role ? `${name} (as ${role})` : name || `user ${id}`,
    box: "The box",
  }[kind];
  const more = [kind === "key" && role, kind === "key" && name && id, a.from].filter(Boolean).join(", ");
  return (
    <>
      {named ?? "Unknown client"}
      {more && (
        <>
          <br />
          <span class="faint">{more}</span>
        </>
      )}
    </>
  );
}

// What is what was done.
export function What({ a }: { a: ReturnAct }) {
  return (
    <>
      {capital(a.text)}
      {a.times > 1 && ` (${a.times} times)`}
      <br />
      <span class="faint">{a.what}</span>
    </>
  );
}

// Where is what an act was done to.
export function Where({ a }: { a: ReturnAct }) {
  const { kind = "", id } = a.object;
  if (!kind) return <>–</>;
  const name = kind === "session" && a.object.name ? browser(a.object.name) : a.object.name;
  return (
    <>
      {words(kind)} {name || id}
      {name && id && (
        <>
          <br />
          <span class="faint">{id}</span>
        </>
      )}
    </>
  );
}

// Outcome is whether it was done, and why not.
export function Outcome({ a }: { a: ReturnAct }) {
  return (
    <>
      {words(a.outcome)}
      {a.reason && (
        <>
          <br />
          <span class="faint">{a.reason}</span>
        </>
      )}
    </>
  );
}
