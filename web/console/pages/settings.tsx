import { useState } from "preact/hooks";
import type { ReturnSetting, ReturnSettings } from "../../rest";
import { get } from "../api";
import { useLoad } from "../load";
import type { PageProps } from "../page";
import { Check, Field } from "../parts/field";
import { Empty, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";

// Settings are those that hold since the box was started.
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
        What holds since the box was started
        {all.value?.file && (
          <>
            , from <code>{all.value.file}</code> and elsewhere
          </>
        )}
        . They are changed there, by variables or by flags, and hold from the next start on.
      </p>
      <div class="row">
        <Field label="Search" type="search" value={search} set={setSearch} placeholder="Name, value, or what it is" />
        <Check label="Only those that somebody set" value={set} set={setSet} />
      </div>
      {all.error && <Failure error={all.error} again={all.reload} />}
      {!all.value && all.loading && <Loading />}
      {shown?.length === 0 && (
        <Empty title="No setting is like that">
          <p>{set && !wanted ? "All of them are as they come." : "Search for something else."}</p>
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
              { head: "Holds", cell: (s) => <Value s={s} /> },
              {
                head: "From",
                cell: (s) =>
                  s.from === undefined || s.from === "default" ? <span class="faint">as it comes</span> : s.from,
              },
              {
                head: "How it is set",
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
