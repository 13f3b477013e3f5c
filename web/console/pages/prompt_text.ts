// A prompt as a form: who the assistant is, facts, rules, examples, and what changes
// from chat to chat. Its text is as docs/prompts.md wants it.

export interface Form {
  who: string;
  facts: string[];
  rules: string[];
  examples: Example[];
  last: string; // with variables: what stands before the first one is read once for all chats
}

export interface Example {
  question: string;
  answer: string;
}

export const emptyForm: Form = { who: "", facts: [], rules: [], examples: [], last: "" };

const heads = { facts: "Facts:", rules: "Rules:", examples: "Examples:", last: "In this conversation:" };

// written is the text of a form. Examples stand in it as the box writes those of a
// config behind its prompt.
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

// read is the form of a text that a form has written, or that is written like one;
// undefined where something would be lost.
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

// one is what somebody wrote as one line: what would break the list is space.
export const one = (text: string) => text.replace(/\s*\n\s*/g, " ");

// tidy is a form without what is empty or would not be read back: lines of nothing,
// half of an example, and gaps in what stands before and behind.
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

// advice is what is known to help in a fact, of docs/prompts.md; nothing where it is
// well written.
export function advice(fact: string): string | undefined {
  const text = fact.trim();
  if (!text) return undefined;
  if (text.length > 300) return "is long: a fact is one sentence that can be understood alone";
  if (!/\s/.test(text) || text.split(/\s+/).length < 3) return "is no whole sentence: write it as you would say it";
  if (
    /\b(mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun)\b\.?/i.test(text) &&
    !/(sunday|sat down|sun (is|sets|rises))/i.test(text)
  )
    return "has a day cut short: write Monday, not Mon";
  if (/\b(it|they|this|these)\b/i.test(text.split(/\s+/)[0]!))
    return "begins with a word for something else: begin with what it is about";
  return undefined;
}
