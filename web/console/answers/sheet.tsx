import { useMemo, useState } from "preact/hooks";
import type { AnswerItem, ReturnAnswersSheet } from "../../rest";
import { upload, withQuery } from "../api";
import { useDoing } from "../load";
import { Dialog } from "../parts/dialog";
import { Check } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { faultsOf } from "../pages/faults";
import { type Change, changesOf } from "./rows";

const path = "/v0/box/answers/sheet";

// SheetButtons reads a sheet of answers from a CSV file into the table, and saves the saved version as one.
export function SheetButtons({
  config,
  changed,
  items,
  apply,
}: {
  config: string;
  changed: boolean;
  items: () => AnswerItem[];
  apply: (items: AnswerItem[], keepOthers: boolean) => void;
}) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Import CSV
      </button>
      {changed ? (
        <button type="button" disabled>
          Save first to export
        </button>
      ) : (
        <a class="button" href={withQuery(path, { config_id: config })} download>
          Export CSV
        </a>
      )}
      {open && <Import before={items()} apply={apply} close={() => setOpen(false)} />}
    </>
  );
}

function Import({
  before,
  apply,
  close,
}: {
  before: AnswerItem[];
  apply: (items: AnswerItem[], keepOthers: boolean) => void;
  close: () => void;
}) {
  const [sheet, setSheet] = useState<ReturnAnswersSheet>();
  const [keepOthers, setKeepOthers] = useState(true);
  const doing = useDoing();
  const changes = useMemo(() => (sheet ? changesOf(before, sheet.items) : []), [sheet]);
  const doneBy = changes.filter((c) => c.after || !keepOthers);
  const read = (file: File | undefined) =>
    doing.run(async () => {
      setSheet(undefined);
      if (file) setSheet(await upload<ReturnAnswersSheet>("POST", path, file, "text/csv"));
    });
  return (
    <Dialog title="Import answers from a sheet" close={close} wide>
      <p>
        A CSV file with the columns <code>id</code>, <code>ask</code> and <code>say</code>: a row for each way of
        asking, what is said in the first row of an answer. Every spreadsheet can save one.
      </p>
      <div class="field">
        <label for="sheet">File</label>
        <input
          id="sheet"
          type="file"
          accept=".csv,.txt,text/csv"
          disabled={doing.busy}
          onChange={(e) => void read(e.currentTarget.files?.[0])}
        />
      </div>
      <div class="lines">
        <ErrorLine error={doing.error && new Error(faultsOf(doing.error).sheet ?? doing.error.message)} />
      </div>
      {sheet && (
        <>
          {sheet.warnings.length > 0 && <p class="notice lines">{sheet.warnings.join("\n")}</p>}
          {changes.some((c) => !c.after) && (
            <Check label="Keep answers that are not in the sheet" value={keepOthers} set={setKeepOthers} />
          )}
          <p role="status">{summary(sheet.items.length, doneBy)}</p>
          <Changes changes={doneBy} />
        </>
      )}
      <div class="buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="primary"
          disabled={doneBy.length === 0}
          onClick={() => {
            apply(sheet!.items, keepOthers);
            close();
          }}
        >
          Put into the table
        </button>
      </div>
    </Dialog>
  );
}

const kindOf = (c: Change) => (!c.before ? "new" : !c.after ? "removed" : "changed");

function summary(found: number, changes: Change[]): string {
  const count = (kind: string) => changes.filter((c) => kindOf(c) === kind).length;
  const parts = ["new", "changed", "removed"].flatMap((kind) => (count(kind) > 0 ? [`${count(kind)} ${kind}`] : []));
  const has = `The sheet has ${found === 1 ? "1 answer" : `${found} answers`}`;
  return parts.length > 0 ? `${has}: ${parts.join(", ")}. Nothing is saved yet.` : `${has}, and changes nothing.`;
}

// mostShown is how many changes are listed.
const mostShown = 100;

function Changes({ changes }: { changes: Change[] }) {
  if (changes.length === 0) return null;
  return (
    <ul class="changes" tabIndex={0} aria-label="Changes">
      {changes.slice(0, mostShown).map((c) => (
        <li key={c.id}>
          <span class={c.after ? "tag" : "tag bad"}>{kindOf(c)}</span> <strong>{c.id}</strong>
          {differences(c).map((line) => (
            <p key={line} class="faint">
              {line}
            </p>
          ))}
        </li>
      ))}
      {changes.length > mostShown && <li class="faint">and {changes.length - mostShown} more</li>}
    </ul>
  );
}

const mostWays = 6;

// differences describes a change in lines: ways of asking that come or go, and what is said then.
function differences({ before, after }: Change): string[] {
  if (!before || !after) return [(after ?? before)!.say];
  const ways = (title: string, all: string[]) => {
    const more = all.length > mostWays ? ` · and ${all.length - mostWays} more` : "";
    return all.length > 0 ? [`${title}: ${all.slice(0, mostWays).join(" · ")}${more}`] : [];
  };
  return [
    ...(before.say === after.say ? [] : [`Says: ${after.say}`]),
    ...ways("Ways added", after.ask.filter((way) => !before.ask.includes(way))),
    ...ways("Ways removed", before.ask.filter((way) => !after.ask.includes(way))),
  ];
}
