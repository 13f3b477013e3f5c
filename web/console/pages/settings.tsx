import { useState } from "preact/hooks";
import type { ReturnSetting, ReturnSettings } from "../../rest";
import { get } from "../api";
import { useLoad } from "../load";
import type { PageProps } from "../page";
import { Check, Field } from "../parts/field";
import { Empty, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";

// Settings lists the settings that the running box uses.
export function Settings(_: PageProps) {
  const all = useLoad((signal) => get<ReturnSettings>("/v0/box/settings", {}, signal), []);
  const [search, setSearch] = useState(""),
    [set, setSet] = useState(false);
  const wanted = search.trim().toLowerCase();
  const shown = all.value?.settings.filter(
    (s) =>
      (!set || (s.from && s.from !== "default")) &&
      [s.key, s.help, s.value ?? ""].some((t) => t.toLowerCase().includes(wanted)),
  );
  const groups = [...new Set(shown?.map((s) => s.group))];
  return (
    <>
      <h1>Settings</h1>
      <p>
        The settings that the running box uses
        {all.value?.file && (
          <>
            , from <code>{all.value.file}</code>, environment variables and flags
          </>
        )}
        . Change them there. A change takes effect at the next start.
      </p>
      <div class="row">
        <Field label="Search" type="search" value={search} set={setSearch} placeholder="Name, value or description" />
        <Check label="Only changed settings" value={set} set={setSet} />
      </div>
      {all.error && <Failure error={all.error} again={all.reload} />}
      {!all.value && all.loading && <Loading />}
      {shown?.length === 0 && (
        <Empty title="No setting found">
          <p>{set && !wanted ? "All settings have their default." : "Search for something else."}</p>
        </Empty>
      )}
      {groups.map((group) => (
        <section key={group}>
          <h2>{group}</h2>
          <Table
            caption={group}
            rows={shown!.filter((s) => s.group === group)}
            id={(s) => s.key}
            columns={[
              {
                head: "Setting",
                cell: (s) => (
                  <>
                    <code>{s.key}</code>
                    <br />
                    <span class="faint">{s.help}</span>
                  </>
                ),
              },
              { head: "Value", cell: (s) => <Value s={s} /> },
              {
                head: "From",
                cell: (s) =>
                  s.from === undefined || s.from === "default" ? <span class="faint">default</span> : s.from,
              },
              {
                head: "Flag and variable",
                cell: (s) => (
                  <>
                    <code>{s.flag}</code>
                    <br />
                    <code>{s.variable}</code>
                  </>
                ),
              },
            ]}
          />
        </section>
      ))}
    </>
  );
}

function Value({ s }: { s: ReturnSetting }) {
  return s.value ? <code>{s.value}</code> : <span class="faint">{s.otherwise ?? "none"}</span>;
}
