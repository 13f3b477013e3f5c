// What the property tests share.
import fc from "fast-check";

export function holds(condition: boolean, message: () => string): void {
  if (!condition) throw new Error(message());
}

export const same = (a: unknown, b: unknown) =>
  holds(JSON.stringify(a) === JSON.stringify(b), () => `${JSON.stringify(a)} is not ${JSON.stringify(b)}`);

// Texts as people type them into forms: with the keywords of the forms, line breaks, and any character.
const words = fc.oneof(
  fc.constantFrom(
    "Facts:",
    "Rules:",
    "Examples:",
    "In this conversation:",
    "Question: ",
    "Answer: ",
    "- ",
    "-",
    "{{name}}",
    "\n",
    "\n\n",
    "\n\n\n",
    "\r\n",
    " ",
    "\t",
    "\u2028",
    "<b>",
    "المتحف",
  ),
  fc.string({ unit: "grapheme", maxLength: 12 }),
);
export const text = fc.array(words, { maxLength: 8 }).map((all) => all.join(""));
