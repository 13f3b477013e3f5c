// Converts between a prompt's text and the fields of its form: role, facts, rules, examples and variables. The text
// follows docs/prompts.md.

export interface Form {
  who: string;
  facts: string[];
  rules: string[];
  examples: Example[];
  last: string; // sentences with variables; the model processes the text before the first one once for all chats
}

export interface Example {
  question: string;
  answer: string;
}

export const emptyForm: Form = { who: "", facts: [], rules: [], examples: [], last: "" };

const heads = { facts: "Facts:", rules: "Rules:", examples: "Examples:", last: "In this conversation:" };

// written returns the text of a form. Its examples look like those that the box adds from a config.
export function written(f: Form): string {
  const list = (head: string, lines: string[]) =>
    lines.length > 0 ? `${head}\n${lines.map((l) => `- ${l}`).join("\n")}` : "";
  const examples = f.examples.map((e) => `Question: ${e.question}\nAnswer: ${e.answer}`).join("\n");
  return [
    f.who,
    list(heads.facts, f.facts),
    list(heads.rules, f.rules),
    examples && `${heads.examples}\n${examples}`,
    f.last && `${heads.last}\n${f.last}`,
  ]
    .filter(Boolean)
    .join("\n\n");
}

// read parses a text that has the layout of written. It returns undefined when the form would lose part of the text.
export function read(text: string): Form | undefined {
  const f: Form = { who: "", facts: [], rules: [], examples: [], last: "" };
  const blocks = text.split("\n\n");
  const who: string[] = [];
  while (blocks.length > 0 && !Object.values(heads).includes(blocks[0]!.split("\n", 1)[0]!)) who.push(blocks.shift()!);
  f.who = who.join("\n\n");
  for (let block = blocks.shift(); block !== undefined; block = blocks.shift()) {
    const [head, ...lines] = block.split("\n");
    if (head === heads.facts) f.facts = items(lines);
    else if (head === heads.rules) f.rules = items(lines);
    else if (head === heads.examples) f.examples = pairs(lines);
    else if (head === heads.last) f.last = [lines.join("\n"), ...blocks.splice(0)].join("\n\n");
    else return undefined;
  }
  return written(f) === text ? f : undefined;
}

const items = (lines: string[]) => lines.map((l) => l.replace(/^- /, ""));

function pairs(lines: string[]): Example[] {
  const all: Example[] = [];
  for (const line of lines) {
    const newest = all.at(-1);
    if (line.startsWith("Question: ")) all.push({ question: line.slice(10), answer: "" });
    else if (newest && line.startsWith("Answer: ")) newest.answer = line.slice(8);
  }
  return all;
}

// one joins a text to one line, because a line break would split the entry of a list.
export const one = (text: string) => text.replace(/\s*\n\s*/g, " ");

// tidy removes what read could not restore: empty lines, half-filled examples, and blank lines in the role and the
// variables.
export function tidy(f: Form): Form {
  const lines = (all: string[]) => all.map((l) => l.trim().replace(/^(-\s+)+/, "")).filter(Boolean);
  return {
    who: f.who.trim(),
    facts: lines(f.facts),
    rules: lines(f.rules),
    last: f.last.trim(),
    examples: f.examples
      .map((e) => ({ question: one(e.question).trim(), answer: one(e.answer).trim() }))
      .filter((e) => e.question && e.answer),
  };
}

// advice returns a hint on how to write a fact better, after docs/prompts.md, or nothing.
export function advice(fact: string): string | undefined {
  const text = fact.trim();
  if (!text) return undefined;
  if (text.length > 300) return "is long: write one sentence that is clear on its own";
  if (!/\s/.test(text) || text.split(/\s+/).length < 3) return "is not a whole sentence: write it as you would say it";
  if (
    /\b(mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)\b\.?/i.test(text) &&
    !/(sunday|sat down|sun (is|sets|rises))/i.test(text)
  )
    return "has a shortened day: write Monday, not Mon";
  if (/\b(it|they|this|these)\b/i.test(text.split(/\s+/)[0]!))
    return "begins with a pronoun: begin with the name of the thing";
  return undefined;
}
