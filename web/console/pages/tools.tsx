import { useState } from "preact/hooks";
import type { PluginCalled, ReturnPagedUserDefinedTools, ReturnUserDefinedTool } from "../../rest";
import { Refused, get, patch, post, remove } from "../api";
import { useDoing, useLoad } from "../load";
import { Form } from "../managed";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Area, Field } from "../parts/field";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { go, to } from "../route";
import { faultsOf, unplaced, useShown } from "./faults";
import { NamedList } from "./named_list";
import { argumentsOf, pretty, wrongIn } from "./tool_schema";
import { useUnsaved } from "./unsaved";
import { Versions, mayFollow } from "./versions";

const path = "/v0/evi/tools";
type Tool = ReturnUserDefinedTool;

// Tools lists the tools, or shows the one that the address names.
export function Tools({ route }: PageProps) {
  const [id] = route.rest;
  if (id === "new") return <Own />;
  if (id) return <Existing key={id} id={id} />;
  return (
    <NamedList<Tool>
      title="Tools"
      page="tools"
      path={path}
      rows="tools_page"
      one="tool"
      about={
        "What an assistant may call in the middle of a conversation: your program answers over the " +
        "socket, or a plugin on the box does."
      }
      columns={[
        { head: "Description", cell: (t) => <span class="faint clipped">{t.description}</span> },
        {
          head: "Answered by",
          cell: (t) => (t.plugin ? <span class="tag">plugin {t.plugin}</span> : <span class="word">your program</span>),
        },
      ]}
      nothing={<p>Give it a name, a description, and the arguments that it needs.</p>}
    />
  );
}

function Existing({ id }: { id: string }) {
  const newest = useLoad(
    async (signal) => {
      const found = (await get<ReturnPagedUserDefinedTools>(`${path}/${encodeURIComponent(id)}`, {}, signal))
        .tools_page[0];
      if (!found) throw new Refused(404, "This tool was deleted.");
      return found;
    },
    [id],
  );
  if (newest.error)
    return (
      <>
        <p>
          <a href={to("tools")}>All tools</a>
        </p>
        <h1>Tool</h1>
        <Failure error={newest.error} again={newest.reload} />
      </>
    );
  if (!newest.value)
    return (
      <>
        <h1>Tool</h1>
        <Loading />
      </>
    );
  const tool = newest.value;
  return tool.plugin ? <OfPlugin tool={tool} /> : <Own key={tool.version} saved={tool} reload={newest.reload} />;
}

// Arguments lists the arguments of a schema.
function Arguments({ schema }: { schema: string }) {
  const rows = argumentsOf(schema);
  if (rows.length === 0) return <p class="quiet">No arguments.</p>;
  return (
    <Table
      caption="Arguments"
      rows={rows}
      id={(r) => r.name}
      columns={[
        { head: "Argument", cell: (r) => <code>{r.name}</code> },
        { head: "Type", cell: (r) => r.type },
        { head: "Required", cell: (r) => (r.required ? "yes" : "no") },
        { head: "Description", cell: (r) => r.says || "–" },
      ]}
    />
  );
}

// OfPlugin shows a tool of a plugin. It can be tried here, and changes only with its plugin.
function OfPlugin({ tool }: { tool: Tool }) {
  const [given, setGiven] = useState("{}");
  const [called, setCalled] = useState<PluginCalled>();
  const doing = useDoing();
  const wrong = wrongIn(given);
  const call = () =>
    doing.run(async () =>
      setCalled(
        await post<PluginCalled>(`/v0/box/plugins/${encodeURIComponent(tool.plugin!)}/call`, {
          tool: tool.name,
          parameters: given,
        }),
      ),
    );
  return (
    <>
      <p>
        <a href={to("tools")}>All tools</a>
      </p>
      <h1>{tool.name}</h1>
      <p>{tool.description}</p>
      <p>
        This tool belongs to the plugin <strong>{tool.plugin}</strong>, which runs on the box. It is read-only here and
        changes with the plugin.
      </p>
      <section class="card">
        <h2>Arguments</h2>
        <Arguments schema={tool.parameters} />
      </section>
      <section class="card">
        <h2>Try it</h2>
        <form
          onSubmit={(e) => {
            e.preventDefault();
            void call();
          }}
        >
          <Area label="Arguments as JSON" code rows={4} value={given} set={setGiven} error={wrong} />
          <ErrorLine error={doing.error} />
          <div class="buttons">
            <button type="submit" class="primary" disabled={doing.busy || !!wrong}>
              Call
            </button>
          </div>
        </form>
        <div role="status">
          {called && (
            <>
              <p class="faint">
                {called.error ? "Failed" : "Answered"} after {called.milliseconds.toFixed(1)} ms, with{" "}
                {(called.memory_bytes / (1 << 20)).toFixed(1)} MiB of memory.
              </p>
              <pre class="wrapped">{called.error ?? called.content ?? ""}</pre>
            </>
          )}
        </div>
      </section>
    </>
  );
}

const emptySchema = `{
  "type": "object",
  "properties": {
    "town": { "type": "string", "description": "Where to" }
  },
  "required": ["town"]
}`;

const body = (t: Tool) => ({
  description: t.description,
  parameters: t.parameters,
  fallback_content: t.fallback_content,
});

// compared renders a version of a tool as text, to compare it with others.
const compared = (t: Tool) =>
  `Description: ${t.description ?? ""}\n\nArguments:\n${pretty(t.parameters)}\n\nWhen it fails: ` +
  `${t.fallback_content ?? ""}`;

function Own({ saved, reload }: { saved?: Tool; reload?: () => void }) {
  const [name, setName] = useState(saved?.name ?? "");
  const [description, setDescription] = useState(saved?.description ?? "");
  const [schema, setSchema] = useState(saved ? pretty(saved.parameters) : emptySchema);
  const [fallback, setFallback] = useState(saved?.fallback_content ?? "");
  const [why, setWhy] = useState("");
  const [asking, setAsking] = useState(false);
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  const wrong = wrongIn(schema);
  const said = { description: description || undefined, parameters: schema, fallback_content: fallback || undefined };
  const differs =
    !saved ||
    description !== (saved.description ?? "") ||
    schema !== pretty(saved.parameters) ||
    fallback !== (saved.fallback_content ?? "");
  const changed = saved ? differs || name !== saved.name : !!(name || description);
  useUnsaved(changed, doing.busy);
  useShown(doing.error);
  const save = () =>
    doing.run(async () => {
      const version_description = why || undefined;
      if (!saved) {
        go(to("tools", (await post<Tool>(path, { name, ...said, version_description })).id));
        return;
      }
      if (differs && !(await mayFollow(path, "tools_page", saved))) return;
      if (name !== saved.name) await patch(`${path}/${saved.id}`, { name });
      if (differs) await post(`${path}/${saved.id}`, { ...said, version_description });
      reload!();
    });
  return (
    <>
      <p>
        <a href={to("tools")}>All tools</a>
      </p>
      <h1>{saved?.name ?? "New tool"}</h1>
      <Form id={saved?.id} what="tool" submit={save}>
        <div class="columns">
          <section class="card">
            <Field
              label="Name"
              value={name}
              set={setName}
              required
              maxLength={64}
              error={faults.name}
              help="The model calls the tool by this name and understands its words: next_train, not fn2."
            />
            <Area
              label="Description"
              value={description}
              set={setDescription}
              maxLength={511}
              error={faults.description}
              help="A sentence for a reader who knows nothing else: “Tells when the next train to a town leaves.”"
            />
            <Area
              label="When it fails"
              rows={3}
              value={fallback}
              set={setFallback}
              maxLength={2047}
              error={faults.fallback_content}
              help="The model gets this text instead of an answer. Without it the assistant says that the tool failed."
            />
            {saved && (
              <Field label="Version note" value={why} set={setWhy} maxLength={255} error={faults.version_description} />
            )}
          </section>
          <section class="card">
            <Area
              label="Arguments, as a JSON schema"
              code
              rows={14}
              value={schema}
              set={setSchema}
              error={wrong ?? faults.parameters}
              help="Few simple arguments work best. The assistant asks the user for a missing required argument."
            />
            {!wrong && <Arguments schema={schema} />}
          </section>
        </div>
        <ErrorLine
          error={unplaced(doing.error, (p) =>
            ["name", "description", "parameters", "fallback_content", "version_description"].includes(p),
          )}
        />
        <div class="buttons">
          <button type="submit" class="primary" disabled={doing.busy || !!wrong || !changed}>
            {saved ? "Save" : "Make this tool"}
          </button>
          {saved && (
            <button type="button" class="danger" onClick={() => setAsking(true)}>
              Delete
            </button>
          )}
          {saved && (
            <span class="faint">
              Version {saved.version}
              {changed && ", changed and not saved"}
            </span>
          )}
        </div>
      </Form>
      {saved && (
        <section class="card">
          <h2>Versions</h2>
          <Versions<Tool>
            path={`${path}/${saved.id}`}
            rows="tools_page"
            newest={saved.version}
            text={compared}
            restore={async (t) => {
              await post(`${path}/${saved.id}`, { ...body(t), version_description: `as version ${t.version}` });
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
            go(to("tools"));
          }}
        >
          <p>This deletes all its versions and removes it from the configs that use it.</p>
        </Confirm>
      )}
    </>
  );
}
