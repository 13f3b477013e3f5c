// Property tests of the table of approved answers.
import fc from "fast-check";
import { type Row, changesOf, faultsOfRows, idsOf, itemsOf, rowsOf, waysOf, withSheet } from "../console/answers/rows";
import { holds, same, text } from "./law";

// A table of approved answers as a person fills it in, with ids that are written or left empty.
const answers: fc.Arbitrary<Row[]> = fc
  .array(fc.record({ id: fc.constantFrom("", "", "desk", "when", "when-2"), ask: text, say: text }), { maxLength: 5 })
  .map((all) => all.map((row, key) => ({ ...row, key })));

export const answerLaws: Record<string, () => void> = {
  "an id that is made is allowed and not taken": () =>
    fc.assert(
      fc.property(answers, (rows) => {
        const ids = idsOf(rows),
          made = rows.filter((r) => !r.id).map((r) => ids.get(r.key)!);
        for (const id of made) holds(/^[a-z0-9-]{1,64}$/.test(id), () => id);
        const written = rows.map((r) => r.id).filter(Boolean);
        same(new Set([...made, ...written]).size, made.length + new Set(written).size);
      }),
    ),
  "the answers of a table open as the same table, and an error is at the row that was sent": () =>
    fc.assert(
      fc.property(answers, (rows) => {
        const { items, keys } = itemsOf(rows);
        same(itemsOf(rowsOf(items)).items, items);
        items.forEach((item, i) => {
          same(item.ask, waysOf(rows.find((r) => r.key === keys[i])!.ask));
          const at = faultsOfRows({ [`answers.items[${i}].ask[1]`]: "too long" }, keys);
          same([...at], [[keys[i]!, { ask: "Line 2: too long" }]]);
        });
      }),
    ),
  "a sheet that is put into a table leaves no difference, and other rows stay if they are to": () =>
    fc.assert(
      fc.property(answers, answers, (rows, others) => {
        const sheet = itemsOf(others).items.filter((item, i, all) => all.findIndex((o) => o.id === item.id) === i);
        const ids = (all: Row[]) => itemsOf(all).items.map((item) => item.id);
        const kept = withSheet(rows, sheet, true),
          replaced = withSheet(rows, sheet, false);
        same(changesOf(itemsOf(replaced).items, sheet), []);
        same(changesOf(itemsOf(kept).items, sheet).filter((c) => c.after), []);
        holds(new Set(kept.map((r) => r.key)).size === kept.length, () => "two rows have one key");
        for (const id of ids(rows)) holds(ids(kept).includes(id), () => `${id} is lost`);
      }),
    ),
};
