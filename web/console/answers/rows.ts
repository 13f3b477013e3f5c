// The table of a config's approved answers while it is edited.
import type { AnswerItem, Answers } from "../../rest";
import type { Faults } from "../pages/faults";

export type AnswersMode = NonNullable<Answers["mode"]>;

// A Row is an answer in the table. Its key stays the same while the page is open.
export interface Row {
  key: number;
  id: string; // empty: made from the first way of asking
  ask: string; // a way of asking on each line
  say: string;
}

export const waysOf = (ask: string): string[] =>
  ask
    .split("\n")
    .map((way) => way.trim())
    .filter(Boolean);

export const rowOf = (key: number, item: AnswerItem): Row => ({ ...item, key, ask: item.ask.join("\n") });

export const rowsOf = (items: AnswerItem[]): Row[] => items.map((item, i) => rowOf(i, item));

export const freshKey = (rows: Row[]): number => rows.reduce((most, r) => Math.max(most, r.key), -1) + 1;

const isEmpty = (r: Row) => !r.id.trim() && !r.ask.trim() && !r.say.trim();

// mostIDChars is how long an id is made from words; the box allows 64 characters.
const mostIDChars = 40;

// idFrom makes an id from a way of asking: "When are you open?" is when-are-you-open.
export function idFrom(way: string): string {
  const words = way.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase().match(/[a-z0-9]+/g) ?? [];
  let id = "";
  for (const word of words) {
    if (id && id.length + 1 + word.length > mostIDChars) break;
    id += (id && "-") + word.slice(0, mostIDChars);
  }
  return id || "answer";
}

// idsOf returns the id of each row, by its key: the one that is written there, or one that is made and not taken.
export function idsOf(rows: Row[]): Map<number, string> {
  const taken = new Set(rows.map((r) => r.id.trim()));
  const ids = new Map<number, string>();
  for (const r of rows) {
    let id = r.id.trim();
    if (!id) {
      const made = idFrom(waysOf(r.ask)[0] ?? "");
      id = made;
      for (let n = 2; taken.has(id); n++) id = `${made}-${n}`;
      taken.add(id);
    }
    ids.set(r.key, id);
  }
  return ids;
}

// itemsOf returns the answers of the table without empty rows, and the keys of their rows.
export function itemsOf(rows: Row[]): { items: AnswerItem[]; keys: number[] } {
  const ids = idsOf(rows);
  const written = rows.filter((r) => !isEmpty(r));
  return {
    items: written.map((r) => ({ id: ids.get(r.key)!, ask: waysOf(r.ask), say: r.say })),
    keys: written.map((r) => r.key),
  };
}

// usable leaves out the answers that the box would refuse, because they are not finished.
export const usable = (items: AnswerItem[]): AnswerItem[] =>
  items.filter((item) => item.ask.length > 0 && item.say.trim() !== "");

export const sameRows = (a: Row[], b: Row[]): boolean =>
  a.length === b.length &&
  a.every((r, i) => {
    const other = b[i]!;
    return r === other || (r.id === other.id && r.ask === other.ask && r.say === other.say);
  });

// matches tells whether a row has all words of a search.
export function matches(row: Row, search: string): boolean {
  const text = `${row.id} ${row.ask} ${row.say}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

// RowFaults are the errors at the fields of a row.
export interface RowFaults {
  id?: string;
  ask?: string;
  say?: string;
}

// faultsOfRows assigns the faults of fields such as answers.items[3].ask[0] to the rows that were sent.
export function faultsOfRows(faults: Faults, keys: number[]): Map<number, RowFaults> {
  const all = new Map<number, RowFaults>();
  for (const [path, why] of Object.entries(faults)) {
    const [, item, field, way] = /^answers\.items\[(\d+)\](?:\.(id|ask|say))?(?:\[(\d+)\])?$/.exec(path) ?? [];
    const key = item === undefined ? undefined : keys[Number(item)];
    if (key === undefined) continue;
    const row = all.get(key) ?? {};
    const said = way === undefined ? why : `Line ${Number(way) + 1}: ${why}`;
    const name = (field ?? "id") as keyof RowFaults;
    row[name] = row[name] ? `${row[name]}\n${said}` : said;
    all.set(key, row);
  }
  return all;
}

// isOfTable tells whether a fault belongs to a row or to another field of the page.
export const isOfTable = (path: string): boolean => /^answers\.(items\[\d+\]|mode|unknown)/.test(path);

// A Change is what a sheet does to the answer with an id. An answer that only one side has lacks before or after.
export interface Change {
  id: string;
  before?: AnswerItem;
  after?: AnswerItem;
}

const sameItem = (a: AnswerItem, b: AnswerItem) => a.say === b.say && a.ask.join("\n") === b.ask.join("\n");

// changesOf compares the answers of a table with those of a sheet, without the ones that stay the same.
export function changesOf(before: AnswerItem[], after: AnswerItem[]): Change[] {
  const old = new Map(before.map((item) => [item.id, item]));
  const now = new Set(after.map((item) => item.id));
  return [
    ...after
      .map((item) => ({ id: item.id, before: old.get(item.id), after: item }))
      .filter((c) => !c.before || !sameItem(c.before, c.after)),
    ...before.filter((item) => !now.has(item.id)).map((item) => ({ id: item.id, before: item })),
  ];
}

// withSheet returns the rows with the answers of a sheet. Rows that the sheet does not have stay, or go.
export function withSheet(rows: Row[], items: AnswerItem[], keepOthers: boolean): Row[] {
  const ids = idsOf(rows);
  const keyOf = new Map(rows.map((r) => [ids.get(r.key)!, r.key]));
  const sent = new Map(items.map((item) => [item.id, item]));
  let key = freshKey(rows);
  const isNew = (item: AnswerItem) => !keyOf.has(item.id);
  if (!keepOthers) return items.map((item) => rowOf(keyOf.get(item.id) ?? key++, item));
  return [
    ...rows.map((r) => {
      const item = sent.get(ids.get(r.key)!);
      return item ? rowOf(r.key, item) : r;
    }),
    ...items.filter(isNew).map((item) => rowOf(key++, item)),
  ];
}
