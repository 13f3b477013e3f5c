// Checks a tool's arguments in the browser, before the box does.

export interface Argument {
  name: string;
  type: string;
  required: boolean;
  says: string;
}

// wrongIn returns why a text is not a JSON object, or undefined if it is one.
export function wrongIn(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return value !== null && typeof value === "object" && !Array.isArray(value)
      ? undefined
      : "Must be an object: { … }";
  } catch (err) {
    return `Not valid JSON: ${(err as Error).message}`;
  }
}

// pretty indents JSON, and returns any other text unchanged.
export function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

type Schema = {
  type?: string | string[];
  enum?: unknown[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
};

// argumentsOf returns the top-level arguments of a schema.
export function argumentsOf(text: string): Argument[] {
  if (wrongIn(text)) return [];
  const s = JSON.parse(text) as Schema;
  const all = s.properties;
  if (typeof all !== "object" || all === null) return [];
  const required = Array.isArray(s.required) ? s.required : [];
  return Object.entries(all).map(([name, a]) => ({
    name,
    type: typeOf(a),
    required: required.includes(name),
    says: typeof a?.description === "string" ? a.description : "",
  }));
}

function typeOf(s: Schema): string {
  if (Array.isArray(s?.enum))
    return `one of ${s.enum
      .slice(0, 8)
      .map((e) => JSON.stringify(e))
      .join(", ")}${s.enum.length > 8 ? " …" : ""}`;
  if (s?.type === "array" && s.items) return `list of ${typeOf(s.items)}`;
  return Array.isArray(s?.type) ? s.type.join(" or ") : (s?.type ?? "anything");
}
