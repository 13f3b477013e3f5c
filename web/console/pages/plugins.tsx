import { useState } from "preact/hooks";
import type { ReturnPlugin } from "../../rest";
import { get } from "../api";
import { useLoad } from "../load";
import type { PageProps } from "../page";
import { Field } from "../parts/field";
import { Empty, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Time } from "../parts/time";
import { to } from "../route";
import { Install } from "./plugin_install";
import { Plugin, PluginStateTag } from "./plugin";

// Plugins lists the installed plugins, or shows the one that the address names.
export function Plugins({ route }: PageProps) {
  const [name] = route.rest;
  return name ? <Plugin key={name} name={name} /> : <All />;
}

function All() {
  const plugins = useLoad((signal) => get<ReturnPlugin[]>("/v0/box/plugins", {}, signal), []);
  const [installing, setInstalling] = useState(false),
    [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase();
  const shown = plugins.value?.filter((p) => [p.name, p.description].some((t) => t.toLowerCase().includes(wanted)));
  return (
    <>
      <div class="head">
        <h1>Plugins</h1>
        <button type="button" class="primary" onClick={() => setInstalling(true)}>
          Install a plugin
        </button>
      </div>
      <p>
        Tools that run on the box in a sandbox. Each plugin can do only what you grant it. Configs name the tools that
        their chats may call.
      </p>
      {plugins.error && <Failure error={plugins.error} again={plugins.reload} />}
      {!plugins.value && plugins.loading && <Loading />}
      {plugins.value && plugins.value.length > 5 && (
        <Field label="Search" type="search" value={search} set={setSearch} />
      )}
      {plugins.value?.length === 0 && (
        <Empty title="No plugin is installed">
          <p>
            A plugin is a WebAssembly module with its manifest inside. <code>parley plugin new</code> starts one.{" "}
            <button type="button" class="link" onClick={() => setInstalling(true)}>
              Install one
            </button>
          </p>
        </Empty>
      )}
      {shown && shown.length > 0 && (
        <Table
          caption="Plugins"
          rows={shown}
          id={(p) => p.name}
          columns={[
            { head: "Name", cell: (p) => <a href={to("plugins", p.name)}>{p.name}</a> },
            { head: "What it does", cell: (p) => p.description },
            { head: "Version", cell: (p) => p.version },
            { head: "State", cell: (p) => <PluginStateTag p={p} /> },
            {
              head: "Permissions",
              cell: (p) =>
                p.denied.length > 0 ? (
                  <>
                    {p.granted.length} of {p.granted.length + p.denied.length} granted
                  </>
                ) : p.granted.length > 0 ? (
                  <>all {p.granted.length} granted</>
                ) : (
                  <>none needed</>
                ),
            },
            { head: "Installed", cell: (p) => <Time ms={p.installed_on} /> },
          ]}
        />
      )}
      {installing && (
        <Install
          close={() => setInstalling(false)}
          done={() => {
            setInstalling(false);
            plugins.reload();
          }}
        />
      )}
    </>
  );
}
