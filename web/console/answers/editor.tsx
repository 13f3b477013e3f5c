import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import type { ReturnConfig } from "../../rest";
import { post } from "../api";
import { useDoing } from "../load";
import { Form } from "../managed";
import { Field } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { draftOf } from "../pages/draft";
import { faultsOf, unplaced, useShown } from "../pages/faults";
import { useUnsaved } from "../pages/unsaved";
import { mayFollow } from "../pages/versions";
import { to } from "../route";
import { Mode } from "./mode";
import { Asked, stillOpen, useReport } from "./report";
import { type AnswersMode, faultsOfRows, freshKey, idsOf } from "./rows";
import { isOfTable, itemsOf, rowsOf, sameRows, waysOf } from "./rows";
import { AnswerTable } from "./table";
import { TryQuestion } from "./try";

const path = "/v0/evi/configs";

// Editor edits the approved answers of a config.
export function Editor({ saved, reload, item }: { saved: ReturnConfig; reload: () => void; item: string }) {
  const [before, setBefore] = useState(() => rowsOf(saved.answers?.items ?? []));
  const [rows, setRows] = useState(before);
  const [mode, setMode] = useState<AnswersMode>(saved.answers?.mode ?? "first");
  const [unknown, setUnknown] = useState(saved.answers?.unknown ?? "");
  const [why, setWhy] = useState("");
  const [search, setSearch] = useState(item);
  const [sentKeys, setSentKeys] = useState<number[]>([]);
  const [asked, setAsked] = useState(false); // the report is shown instead of the table
  const saving = useDoing();
  const ids = useMemo(() => idsOf(rows), [rows]);
  const changed =
    !sameRows(rows, before) || mode !== (saved.answers?.mode ?? "first") || unknown !== (saved.answers?.unknown ?? "");
  useUnsaved(changed, saving.busy);
  useShown(saving.error);
  const faults = useMemo(() => faultsOf(saving.error), [saving.error]);
  const rowFaults = useMemo(() => faultsOfRows(faults, sentKeys), [faults, sentKeys]);
  const save = async () => {
    const done = await saving.run(async () => {
      if (!(await mayFollow(path, "configs_page", saved))) return;
      const { items, keys } = itemsOf(rows);
      setSentKeys(keys);
      const answers = { mode, unknown: unknown.trim() ? unknown : undefined, items };
      await post(`${path}/${saved.id}`, { ...draftOf(saved), answers, version_description: why || undefined });
      const now = keys.map((key, i) => ({ ...rowsOf([items[i]!])[0]!, key }));
      setBefore(now);
      // What was written while the box saved stays, and the answers keep the ids that were saved.
      const made = new Map(now.map((r) => [r.key, r.id]));
      setRows((all) => (all === rows ? now : all.map((r) => ({ ...r, id: r.id.trim() || (made.get(r.key) ?? "") }))));
      setWhy("");
      reload();
    });
    if (!done) setAsked(false); // the errors are in the table
  };
  const focus = useFocus();
  const add = (ask: string) => {
    const row = { key: freshKey(rows), id: "", ask, say: "" };
    setAsked(false);
    setSearch("");
    setRows([row, ...rows]);
    focus(row.key);
  };
  const keyOf = (id: string) => [...ids].find(([, one]) => one === id)?.[0];
  const show = (id: string) => {
    setAsked(false);
    setSearch(id);
    focus(keyOf(id));
  };
  const addTo = (id: string, text: string) => {
    setRows(rows.map((r) => (ids.get(r.key) === id ? { ...r, ask: [...waysOf(r.ask), text].join("\n") } : r)));
    show(id);
  };
  const { report, days, setDays } = useReport(saved.id);
  const given = useMemo(
    () => report.value && new Map(report.value.given.map((g) => [g.answer_id, g.count])),
    [report.value],
  );
  const open = useMemo(() => stillOpen(report.value?.unanswered, rows), [report.value, rows]);
  const items = () => itemsOf(rows).items;
  const empty = !rows.some((r) => r.ask.trim() && r.say.trim());
  return (
    <>
      <p>
        <a href={to("answers")}>All configs</a>
      </p>
      <div class="head">
        <h1>Answers of {saved.name}</h1>
        <div class="buttons">
          <a class="button" href={to("configs", saved.id)}>
            The config
          </a>
          <a class="button" href={`${to("talk")}?config=${saved.id}`}>
            Talk to it
          </a>
        </div>
      </div>
      <div class="beside sheet">
        <Form id={saved.id} what="config" submit={save}>
          <section class="card">
            <Mode {...{ mode, setMode, unknown, setUnknown, faults }} />
            <Field
              label="Version note"
              value={why}
              set={setWhy}
              maxLength={255}
              help="What changed. Shown in the list of versions."
              error={faults.version_description}
            />
          </section>
          <div class="buttons" role="group" aria-label="View">
            <button type="button" aria-pressed={!asked} onClick={() => setAsked(false)}>
              Answers
            </button>
            <button type="button" aria-pressed={asked} onClick={() => setAsked(true)}>
              Asked, and not answered
              {open && open.length > 0 && ` (${open.length})`}
            </button>
          </div>
          {asked ? (
            <Asked
              {...{ report, open, days, setDays, items }}
              make={(q) => add([q.text, ...q.texts].join("\n"))}
              addTo={(id, q) => addTo(id, q.text)}
            />
          ) : (
            <AnswerTable
              {...{ changed, rows, setRows, items, ids, given, days, search, setSearch, show }}
              config={saved}
              faults={rowFaults}
              add={() => add("")}
            />
          )}
          <div class="card save">
            <ErrorLine error={unplaced(saving.error, (p) => isOfTable(p) || p === "version_description")} />
            <div class="buttons">
              <button type="submit" class="primary" disabled={saving.busy || !changed}>
                Save
              </button>
              <span class="faint">
                Version {saved.version}
                {changed && ", unsaved changes"}
              </span>
            </div>
          </div>
        </Form>
        <TryQuestion config={saved.id} {...{ changed, empty, items, mode, unknown, show }} />
      </div>
    </>
  );
}

// useFocus returns a function that moves the focus to the first empty field of a row, or else its first field, as soon
// as the row is on the page.
function useFocus(): (key: number | undefined) => void {
  const [wanted, setWanted] = useState<{ key: number }>();
  useLayoutEffect(() => {
    if (!wanted) return;
    const fields = [...document.querySelectorAll<HTMLTextAreaElement>(`[data-key="${wanted.key}"] textarea`)];
    const field = fields.find((f) => !f.value) ?? fields[0];
    field?.focus();
    field?.closest("fieldset")?.scrollIntoView({ block: "nearest" });
  }, [wanted]);
  return (key) => setWanted(key === undefined ? undefined : { key });
}
