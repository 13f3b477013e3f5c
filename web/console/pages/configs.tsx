import { useMemo, useState } from "preact/hooks";
import type { ReturnConfig, ReturnPagedConfigs } from "../../rest";
import { Refused, get, patch, post, remove } from "../api";
import { useDoing, useLoad } from "../load";
import { Form } from "../managed";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Field } from "../parts/field";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { go, to } from "../route";
import { FormOf } from "./form_fields";
import { save } from "../parts/save";
import { choices } from "./choices";
import { Sections } from "./config_form";
import { type Draft, draftOf, fresh, sorted } from "./draft";
import { faultsOf, unplaced, useShown } from "./faults";
import { NamedList } from "./named_list";
import { useUnsaved } from "./unsaved";
import { Versions, mayFollow } from "./versions";

const path = "/v0/evi/configs";

// formOf returns the text of what the form of a config may change. Approved answers are changed on their own page; they
// may be long, and the form compares its text at each letter.
const formOf = ({ answers: _, ...rest }: Draft) => sorted(rest);

// textOf returns the text of a version, to compare it with others.
const textOf = (c: ReturnConfig) =>
  sorted(c.answers_omitted ? { ...draftOf(c), answers: "too long to be shown here" } : draftOf(c));

// whole returns a version of a list with its approved answers.
const whole = (c: ReturnConfig) =>
  c.answers_omitted ? get<ReturnConfig>(`${path}/${c.id}/version/${c.version}`) : Promise.resolve(c);

const byDefault = <span class="word">default</span>;

// Configs lists the configs, or shows the one that the address names.
export function Configs({ route }: PageProps) {
  const [id] = route.rest;
  if (id === "new") return <Config />;
  if (id) return <Existing key={id} id={id} />;
  return (
    <NamedList<ReturnConfig>
      title="Configs"
      page="configs"
      path={path}
      rows="configs_page"
      one="config"
      about={
        "How an assistant behaves in a chat: its prompt, its voice, the tools that it may call, and when a turn " +
        "ends."
      }
      columns={[
        { head: "Voice", cell: (c) => c.voice?.name ?? byDefault },
        {
          head: "Prompt",
          cell: (c) => (c.prompt ? <a href={to("prompts", c.prompt.id)}>{c.prompt.name}</a> : byDefault),
        },
        { head: "Tools", number: true, cell: (c) => c.tools.length + c.builtin_tools.length },
      ]}
      nothing={
        <p>
          A prompt and a voice are enough. <a href={to("prompts", "new")}>Write the prompt</a> first.
        </p>
      }
    />
  );
}

function Existing({ id }: { id: string }) {
  const newest = useLoad(
    async (signal) => {
      const found = (await get<ReturnPagedConfigs>(`${path}/${id}`, {}, signal)).configs_page[0];
      if (!found) throw new Refused(404, "This config was deleted.");
      return found;
    },
    [id],
  );
  if (newest.error)
    return (
      <>
        <p>
          <a href={to("configs")}>All configs</a>
        </p>
        <h1>Config</h1>
        <Failure error={newest.error} again={newest.reload} />
      </>
    );
  if (!newest.value)
    return (
      <>
        <h1>Config</h1>
        <Loading />
      </>
    );
  return <Config key={newest.value.version} saved={newest.value} reload={newest.reload} />;
}

function Config({ saved, reload }: { saved?: ReturnConfig; reload?: () => void }) {
  const known = useLoad(choices, []);
  const before = useMemo(() => (saved ? draftOf(saved) : fresh), []);
  const [draft, set] = useState<Draft>(before);
  const [name, setName] = useState(saved?.name ?? "");
  const [why, setWhy] = useState("");
  const [asking, setAsking] = useState(false);
  const doing = useDoing();
  const placed = useMemo(() => new Set(["name", "version_description"]), []);
  const faults = faultsOf(doing.error);
  const differs = !saved || formOf(draft) !== formOf(before);
  const changed = saved ? differs || name !== saved.name : name !== "" || (differs && formOf(draft) !== formOf(fresh));
  useUnsaved(changed, doing.busy);
  useShown(doing.error);
  const keep = () =>
    doing.run(async () => {
      const version_description = why || undefined;
      if (!saved) {
        go(to("configs", (await post<ReturnConfig>(path, { name, ...draft, version_description })).id));
        return;
      }
      if (differs && !(await mayFollow(path, "configs_page", saved))) return;
      if (name !== saved.name) await patch(`${path}/${saved.id}`, { name });
      if (differs) await post(`${path}/${saved.id}`, { ...draft, version_description });
      reload!();
    });
  return (
    <>
      <p>
        <a href={to("configs")}>All configs</a>
      </p>
      <div class="head">
        <h1>{saved?.name ?? "New config"}</h1>
        {saved && (
          <a class="button" href={`${to("talk")}?config=${saved.id}`}>
            Talk to it
          </a>
        )}
      </div>
      {saved && (
        <p class="faint">
          Clients name it as <code>config_id={saved.id}</code>.{" "}
          <a href={`${to("chats")}?config=${saved.id}`}>Chats with this config</a>
        </p>
      )}
      {known.error && <Failure error={known.error} again={known.reload} />}
      <FormOf.Provider value={{ draft, set, faults, placed }}>
        <Form id={saved?.id} what="config" submit={keep}>
          <section class="card">
            <Field label="Name" value={name} set={setName} required maxLength={74} error={faults.name} />
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
          </section>
          {known.value ? <Sections known={known.value} id={saved?.id} /> : <Loading />}
          <div class="card save">
            <ErrorLine error={unplaced(doing.error, (p) => placed.has(p))} />
            <div class="buttons">
              <button type="submit" class="primary" disabled={doing.busy || !changed}>
                {saved ? "Save" : "Make this config"}
              </button>
              {saved && (
                <button
                  type="button"
                  onClick={() =>
                    save(`config-${saved.id}.json`, "application/json", sorted({ name: saved.name, ...before }) + "\n")
                  }
                >
                  Save as JSON
                </button>
              )}
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
          </div>
        </Form>
      </FormOf.Provider>
      {saved && (
        <section class="card">
          <h2>Versions</h2>
          <Versions<ReturnConfig>
            path={`${path}/${saved.id}`}
            rows="configs_page"
            newest={saved.version}
            text={textOf}
            restore={async (c) => {
              const draft = draftOf(await whole(c));
              await post(`${path}/${saved.id}`, { ...draft, version_description: `as version ${c.version}` });
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
            go(to("configs"));
          }}
        >
          <p>This deletes all its versions. Clients that name it get an error. Its chats stay.</p>
        </Confirm>
      )}
    </>
  );
}
