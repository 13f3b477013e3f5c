import { useState } from "preact/hooks";
import type { ReturnPagedPrompts, ReturnPrompt } from "../../rest";
import { Refused, get, patch, post, remove } from "../api";
import { useDoing, useLoad } from "../load";
import { Form as RecordForm } from "../managed";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Area, Field } from "../parts/field";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { go, to } from "../route";
import { faultsOf, unplaced, useShown } from "./faults";
import { NamedList } from "./named_list";
import { PromptForm } from "./prompt_form";
import { type Form, emptyForm, read, tidy, written } from "./prompt_text";
import { TryIt } from "./try";
import { useUnsaved } from "./unsaved";
import { Versions, mayFollow } from "./versions";

const path = "/v0/evi/prompts";

// Prompts lists the prompts, or shows the one that the address names.
export function Prompts({ route }: PageProps) {
  const [id] = route.rest;
  if (id === "new") return <Prompt />;
  if (id) return <Existing key={id} id={id} />;
  return (
    <NamedList<ReturnPrompt>
      title="Prompts"
      page="prompts"
      path={path}
      rows="prompts_page"
      one="prompt"
      about={
        "Instructions for an assistant: its role, the facts that it knows, and its rules. Several " +
        "configs can share a prompt."
      }
      columns={[
        {
          head: "Begins",
          cell: (p) => (
            <span class="faint">
              {p.text.slice(0, 90)}
              {p.text.length > 90 && " …"}
            </span>
          ),
        },
      ]}
      nothing={<p>Write down what people ask most, one fact a line, and try it at once.</p>}
    />
  );
}

function Existing({ id }: { id: string }) {
  const newest = useLoad(
    async (signal) => {
      const found = (await get<ReturnPagedPrompts>(`${path}/${id}`, {}, signal)).prompts_page[0];
      if (!found) throw new Refused(404, "This prompt was deleted.");
      return found;
    },
    [id],
  );
  if (newest.error)
    return (
      <>
        <p>
          <a href={to("prompts")}>All prompts</a>
        </p>
        <h1>Prompt</h1>
        <Failure error={newest.error} again={newest.reload} />
      </>
    );
  if (!newest.value)
    return (
      <>
        <h1>Prompt</h1>
        <Loading />
      </>
    );
  return <Prompt key={newest.value.version} saved={newest.value} reload={newest.reload} />;
}

// Prompt edits one prompt or a new one, as a form if its text has the layout of the form.
function Prompt({ saved, reload }: { saved?: ReturnPrompt; reload?: () => void }) {
  const [name, setName] = useState(saved?.name ?? "");
  const [why, setWhy] = useState("");
  const [form, setForm] = useState<Form | undefined>(() => (saved ? read(saved.text) : emptyForm));
  const [plain, setPlain] = useState(saved?.text ?? "");
  const [asking, setAsking] = useState(false);
  const doing = useDoing();
  const text = form ? written(tidy(form)) : plain;
  const changed = text !== (saved?.text ?? "") || name !== (saved?.name ?? "");
  useUnsaved(changed, doing.busy);
  useShown(doing.error);
  const faults = faultsOf(doing.error);
  const save = () =>
    doing.run(async () => {
      if (!saved) {
        const made = await post<ReturnPrompt>(path, { name, text, version_description: why || undefined });
        go(to("prompts", made.id));
        return;
      }
      if (text !== saved.text && !(await mayFollow(path, "prompts_page", saved))) return;
      if (name !== saved.name) await patch(`${path}/${saved.id}`, { name });
      if (text !== saved.text)
        await post(`${path}/${saved.id}`, {
          text,
          version_description: why || undefined,
          prompt_expansion: saved.prompt_expansion,
        });
      reload!();
    });
  const asForm = read(plain);
  return (
    <>
      <p>
        <a href={to("prompts")}>All prompts</a>
      </p>
      <h1>{saved ? saved.name : "New prompt"}</h1>
      <div class="beside">
        <RecordForm id={saved?.id} what="prompt" submit={save}>
          <section class="card">
            <Field label="Name" value={name} set={setName} required maxLength={74} error={faults.name} />
            <div class="buttons" role="group" aria-label="Editor">
              <button
                type="button"
                aria-pressed={!!form}
                disabled={!form && !asForm}
                onClick={() => setForm(form ?? asForm)}
              >
                Form
              </button>
              <button
                type="button"
                aria-pressed={!form}
                onClick={() => {
                  if (form) {
                    setPlain(text);
                    setForm(undefined);
                  }
                }}
              >
                Text
              </button>
              {!form && !asForm && <span class="faint">This text does not have the layout of the form.</span>}
            </div>
            {form ? (
              <PromptForm form={form} set={setForm} error={faults.text} />
            ) : (
              <Area
                label="Text"
                rows={20}
                required
                value={plain}
                set={setPlain}
                error={faults.text}
                help="{{name}} is replaced by a variable of the chat, {{now}} by the time when the chat began."
              />
            )}
          </section>
          {form && (
            <details class="card">
              <summary>Text of the prompt</summary>
              <pre class="wrapped">{text || " "}</pre>
            </details>
          )}
          <section class="card">
            {saved && (
              <Field
                label="Version note"
                value={why}
                set={setWhy}
                maxLength={255}
                help="What changed. Shown in the list of versions."
                error={faults.version_description}
              />
            )}
            <ErrorLine error={unplaced(doing.error, (p) => ["name", "text", "version_description"].includes(p))} />
            <div class="buttons">
              <button type="submit" class="primary" disabled={doing.busy || !changed || !text}>
                {saved ? "Save" : "Make this prompt"}
              </button>
              {saved && (
                <button type="button" class="danger" onClick={() => setAsking(true)}>
                  Delete
                </button>
              )}
              {saved && (
                <span class="faint">
                  Version {saved.version}
                  {changed && ", unsaved changes"}
                </span>
              )}
            </div>
          </section>
        </RecordForm>
        <TryIt prompt={text} />
      </div>
      {saved && (
        <section class="card">
          <h2>Versions</h2>
          <Versions<ReturnPrompt>
            path={`${path}/${saved.id}`}
            rows="prompts_page"
            newest={saved.version}
            text={(p) => p.text}
            restore={async (p) => {
              await post(`${path}/${saved.id}`, {
                text: p.text,
                version_description: `as version ${p.version}`,
                prompt_expansion: p.prompt_expansion,
              });
              reload!();
            }}
          />
        </section>
      )}
      {asking && saved && (
        <Confirm
          title={`Delete ${saved.name}?`}
          verb="Delete"
          close={() => setAsking(false)}
          does={async () => {
            await remove(`${path}/${saved.id}`);
            go(to("prompts"));
          }}
        >
          <p>This deletes all its versions. Configs that use it fall back to the default prompt.</p>
        </Confirm>
      )}
    </>
  );
}
