import { useEffect, useState } from "preact/hooks";
import type { PluginCalled, PluginFigures, PluginLogLine, PluginSetting, ReturnPlugin } from "../../rest";
import { get, patch, post, remove } from "../api";
import { useEvents } from "../events";
import { useDoing, useLoad } from "../load";
import { ManagedBy, useManager } from "../managed";
import { Confirm } from "../parts/dialog";
import { Area, Field, Select } from "../parts/field";
import { bytes, milliseconds } from "../parts/format";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Time } from "../parts/time";
import { go, to } from "../route";

// PluginStateTag shows the state of a plugin.
export function PluginStateTag({ p }: { p: ReturnPlugin }) {
  return <span class={p.state === "ready" ? "tag" : p.state === "incomplete" ? "tag warn" : "tag bad"}>{p.state}</span>;
}

// Plugin shows one plugin: permissions, settings, calls and log.
export function Plugin({ name }: { name: string }) {
  const hub = useManager(name);
  const path = `/v0/box/plugins/${encodeURIComponent(name)}`;
  const plugin = useLoad((signal) => get<ReturnPlugin>(path, {}, signal), [path]);
  const [removing, setRemoving] = useState(false);
  const p = plugin.value;
  return (
    <>
      <p>
        <a href={to("plugins")}>All plugins</a>
      </p>
      <div class="head">
        <h1>{name}</h1>
        {p && (
          <button type="button" class="danger" disabled={!!hub} onClick={() => setRemoving(true)}>
            Remove
          </button>
        )}
      </div>
      {plugin.error && <Failure error={plugin.error} again={plugin.reload} />}
      {!p && plugin.loading && <Loading />}
      {p && (
        <>
          <ManagedBy hub={hub} what="plugin" />
          <p>{p.description}</p>
          <p>
            <PluginStateTag p={p} /> {p.why} Version {p.version},{" "}
            {p.signed_by
              ? p.trusted
                ? "signed by a key that the box trusts"
                : "signed by a key that the box does not know"
              : "not signed"}
            ; changed <Time ms={p.changed_on} />. It stores {bytes(p.keeps_bytes)}.
          </p>
          <div class="columns">
            <Rights p={p} path={path} reload={plugin.reload} />
            <Settings key={p.changed_on} p={p} path={path} reload={plugin.reload} />
          </div>
          <Figures path={path} />
          <Try p={p} path={path} />
          <Log path={path} changed={plugin.reload} />
        </>
      )}
      {removing && (
        <Confirm
          title={`Remove ${name}?`}
          verb="Remove"
          close={() => setRemoving(false)}
          does={async () => {
            await remove(path);
            go(to("plugins"));
          }}
        >
          <p>This also deletes its stored data of all accounts. Running conversations continue without its tools.</p>
        </Confirm>
      )}
    </>
  );
}

// Rights lists the permissions that the plugin asks for, with a button to grant or revoke each.
function Rights({ p, path, reload }: { p: ReturnPlugin; path: string; reload: () => void }) {
  const doing = useDoing();
  const change = (what: "grant" | "revoke", name: string) =>
    doing.run(async () => {
      await patch(path, { [what]: [name] });
      reload();
    });
  const all = [...p.granted.map((r) => ({ ...r, may: true })), ...p.denied.map((r) => ({ ...r, may: false }))];
  return (
    <section class="card">
      <h2>Permissions</h2>
      {all.length === 0 && <p>It asks for no permissions.</p>}
      <ul class="rights">
        {all.map((r) => (
          <li key={r.name}>
            <span>
              {r.words}
              <br />
              <code>{r.name}</code>
            </span>
            {r.may ? (
              <button type="button" class="danger" disabled={doing.busy} onClick={() => void change("revoke", r.name)}>
                Revoke<span class="unseen"> {r.name}</span>
              </button>
            ) : (
              <button type="button" disabled={doing.busy} onClick={() => void change("grant", r.name)}>
                Grant<span class="unseen"> {r.name}</span>
              </button>
            )}
          </li>
        ))}
      </ul>
      <ErrorLine error={doing.error} />
    </section>
  );
}

// Settings is the form of the plugin's settings.
function Settings({ p, path, reload }: { p: ReturnPlugin; path: string; reload: () => void }) {
  const [values, setValues] = useState<Record<string, string>>(() =>
    Object.fromEntries(p.settings.map((s) => [s.name, s.value ?? ""])),
  );
  const doing = useDoing();
  const changed = p.settings.filter((s) => values[s.name] !== (s.value ?? ""));
  const save = () =>
    doing.run(async () => {
      await patch(path, {
        settings: changed.filter((s) => values[s.name] !== "").map((s) => ({ name: s.name, value: values[s.name]! })),
        unset: changed.filter((s) => values[s.name] === "").map((s) => s.name),
      });
      reload();
    });
  return (
    <section class="card">
      <h2>Settings</h2>
      {p.settings.length === 0 && <p>It has no settings.</p>}
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void save();
        }}
      >
        {p.settings.map((s) => (
          <Setting key={s.name} s={s} value={values[s.name] ?? ""} set={(v) => setValues({ ...values, [s.name]: v })} />
        ))}
        <ErrorLine error={doing.error} />
        {p.settings.length > 0 && (
          <div class="buttons">
            <button class="primary" disabled={doing.busy || changed.length === 0}>
              Save
            </button>
          </div>
        )}
      </form>
    </section>
  );
}

function Setting({ s, value, set }: { s: PluginSetting; value: string; set: (value: string) => void }) {
  const help = [
    s.description,
    s.type === "secret" &&
      (s.is_set ? "It is set and never shown. A new value replaces it." : "It is never shown again."),
    s.required && !s.is_set && "The plugin cannot run without it.",
  ]
    .filter(Boolean)
    .join(" ");
  if (s.type === "boolean")
    return (
      <Select
        label={s.name}
        help={help}
        value={value}
        set={set}
        options={[
          ["", "not set"],
          ["true", "true"],
          ["false", "false"],
        ]}
      />
    );
  return (
    <Field
      label={s.name}
      help={help}
      value={value}
      set={set}
      type={s.type === "integer" || s.type === "number" ? "number" : "text"}
      step={s.type === "number" ? "any" : undefined}
    />
  );
}

// refreshMS is how often the figures are fetched while the page is visible.
const refreshMS = 3000;

// Figures lists the plugin's calls since the box started.
function Figures({ path }: { path: string }) {
  const figures = useLoad((signal) => get<PluginFigures[]>(`${path}/figures`, {}, signal), [path]);
  useEffect(() => {
    const asking = setInterval(() => {
      if (!document.hidden) figures.reload();
    }, refreshMS);
    return () => clearInterval(asking);
  }, []);
  return (
    <section>
      <h2>Calls from chats since the box started</h2>
      {figures.error && <Failure error={figures.error} again={figures.reload} />}
      {figures.value?.length === 0 && <p class="faint">None yet.</p>}
      {figures.value && figures.value.length > 0 && (
        <Table
          caption="Calls"
          rows={figures.value}
          id={(f) => f.tool}
          columns={[
            { head: "Tool or hook", cell: (f) => <code>{f.tool}</code> },
            { head: "Results", cell: (f) => f.results.map((r) => `${r.calls} ${r.result}`).join(", ") },
            { head: "Median", number: true, cell: (f) => (f.median_ms ? `≤ ${milliseconds(f.median_ms)}` : "–") },
            {
              head: "95th percentile",
              number: true,
              cell: (f) => (f.p95_ms ? `≤ ${milliseconds(f.p95_ms)}` : "–"),
            },
          ]}
        />
      )}
    </section>
  );
}

// Try calls one of the plugin's tools, as a chat would.
function Try({ p, path }: { p: ReturnPlugin; path: string }) {
  const [tool, setTool] = useState(p.tools[0]?.name ?? ""),
    [parameters, setParameters] = useState("{}");
  const [called, setCalled] = useState<PluginCalled>();
  const doing = useDoing();
  if (p.tools.length === 0) return null;
  return (
    <section class="card">
      <h2>Try it</h2>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          setCalled(undefined);
          void doing.run(async () => setCalled(await post<PluginCalled>(`${path}/call`, { tool, parameters })));
        }}
      >
        <Select
          label="Tool"
          value={tool}
          set={setTool}
          options={p.tools.map((t) => [t.name, `${t.name}: ${t.description}`] as const)}
        />
        <Area
          label="Parameters"
          value={parameters}
          set={setParameters}
          code
          rows={3}
          help="A JSON object, as the model would write it."
        />
        <ErrorLine error={doing.error} />
        <button disabled={doing.busy}>Call</button>
      </form>
      <div role="status">
        {called && (
          <>
            <p class="faint">
              {milliseconds(called.milliseconds)}, {bytes(called.memory_bytes)} of memory
            </p>
            {called.error ? (
              <p class="error">{called.error}</p>
            ) : (
              <pre tabIndex={0}>
                <code>{called.content || "(nothing)"}</code>
              </pre>
            )}
          </>
        )}
      </div>
    </section>
  );
}

const maxLines = 500;

// Log shows the plugin's log lines as the plugin writes them.
function Log({ path, changed }: { path: string; changed: () => void }) {
  const [lines, setLines] = useState<PluginLogLine[]>([]);
  const [level, setLevel] = useState("");
  const lost = useEvents<PluginLogLine>(`${path}/logs/events?lines=100`, (l) => {
    // A reopened stream repeats the newest lines.
    const repeated = (all: PluginLogLine[]) => all.some((o) => o.on_ms === l.on_ms && o.text === l.text);
    setLines((all) => (repeated(all) ? all : [...all, l].slice(-maxLines)));
    if (l.level === "error" && Date.now() - l.on_ms < 5000) changed();
  });
  const shown = lines.filter((l) => !level || l.level === level);
  return (
    <section>
      <div class="head">
        <h2>Log</h2>
        <Select
          label="Level"
          hideLabel
          value={level}
          set={setLevel}
          options={[
            ["", "All levels"],
            ["error", "Errors"],
            ["warn", "Warnings"],
            ["info", "Info"],
            ["debug", "Debug"],
            ["trace", "Trace"],
          ]}
        />
      </div>
      <ErrorLine error={lost} />
      {shown.length === 0 ? (
        <p class="faint">No log lines{level && " at this level"} yet. New lines appear here at once.</p>
      ) : (
        <div class="written" role="log" aria-label="Log" tabIndex={0}>
          {shown.map((l) => (
            <p key={`${l.on_ms} ${l.text}`}>
              <Time ms={l.on_ms} />{" "}
              <span class={l.level === "error" ? "error" : "faint"}>
                {l.level}
                {l.tool && ` ${l.tool}`}
              </span>{" "}
              {l.text}
            </p>
          ))}
        </div>
      )}
    </section>
  );
}
