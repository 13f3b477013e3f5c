import { useState } from "preact/hooks";
import type { ReturnAct, ReturnPagedActs } from "../../rest";
import { get, withQuery } from "../api";
import { useLoad, usePages } from "../load";
import { later } from "../later";
import type { PageProps } from "../page";
import { Field, Select } from "../parts/field";
import { Empty, Failure, Loading } from "../parts/notice";
import { Pager, Table } from "../parts/table";
import { Clock } from "../parts/time";
import { to } from "../route";
import { Outcome, What, Where, Who, words } from "./act";

const outcomes = [
  ["", "All"],
  ["done", "Done"],
  ["refused", "Refused"],
  ["failed", "Failed"],
] as const;

const actors = [
  ["", "All"],
  ["key", "API keys"],
  ["session", "Console sessions"],
  ["screen", "Screens"],
  ["user", "Commands of users"],
  ["box", "The box itself"],
  ["unknown", "Unknown clients"],
] as const;

// BoxActs is what happened on the boxes of a hub.
const BoxActs = later(() => import("./fleet").then(({ build, BoxActs: Page }) => ({ build, Page })));

// Audit shows the audit log: who changed what on the box; on a hub also what happened on its boxes.
export function Audit(props: PageProps) {
  return props.who.hub && props.route.rest[0] === "boxes" ? <BoxActs {...props} /> : <Log hub={props.who.hub} />;
}

function Log({ hub }: { hub?: boolean }) {
  const [who, setWho] = useState(""),
    [what, setWhat] = useState(""),
    [outcome, setOutcome] = useState(""),
    [search, setSearch] = useState(""),
    [since, setSince] = useState(""),
    [until, setUntil] = useState("");
  const filter = { who, what, outcome, search, since: dayStart(since, 0), until: dayStart(until, 1) };
  const list = usePages<ReturnAct>("/v0/box/acts", "acts_page", filter);
  const names = useLoad((signal) => get<ReturnPagedActs>("/v0/box/acts", { page_size: 1 }, signal), []);
  const groups = [...new Set((names.value?.whats ?? []).map((name) => name.split(".")[0]!))];
  const filtered = Object.values(filter).some(Boolean);
  return (
    <>
      <div class="head">
        <h1>Audit</h1>
        <div class="buttons">
          <a class="button" href={withQuery("/v0/box/acts", { ...filter, format: "csv" })} download>
            Download as CSV
          </a>
        </div>
      </div>
      <p>
        Who changed what on this box, when and from where, newest first. Rows stay for two years; nobody can delete
        them here. {hub && <a href={to("audit", "boxes")}>What happened on the boxes</a>}
      </p>
      <div class="row">
        <Select label="Who" value={who} set={setWho} options={actors} />
        <Select
          label="What"
          value={what}
          set={setWhat}
          options={[["", "Everything"] as const, ...groups.map((g) => [g, words(g)] as const)]}
        />
        <Select label="Outcome" value={outcome} set={setOutcome} options={outcomes} />
      </div>
      <div class="row">
        <Field label="From" type="date" value={since} set={setSince} />
        <Field label="To" type="date" value={until} set={setUntil} />
        <Field label="Search" type="search" value={search} set={setSearch} placeholder="Name, id, address or words" />
      </div>
      {list.error && <Failure error={list.error} again={list.reload} />}
      {!list.value && list.loading && <Loading />}
      {list.value?.length === 0 && (
        <Empty title={filtered ? "Nothing found" : "Nothing was changed yet"}>
          <p>{filtered ? "Choose fewer filters, or a longer time." : "Changes to this box appear here."}</p>
        </Empty>
      )}
      {list.value && list.value.length > 0 && (
        <Table
          caption="Audit log"
          rows={list.value}
          id={(a) => String(a.id)}
          columns={[
            { head: "When", cell: (a) => <Clock ms={a.created_on} /> },
            { head: "Who", cell: (a) => <Who a={a} /> },
            { head: "What", cell: (a) => <What a={a} /> },
            { head: "On", cell: (a) => <Where a={a} /> },
            { head: "Outcome", cell: (a) => <Outcome a={a} /> },
          ]}
        />
      )}
      <Pager list={list} />
    </>
  );
}

// dayStart returns the beginning of a day, plus some days, in Unix milliseconds; undefined for no date.
function dayStart(date: string, plus: number): number | undefined {
  if (!date) return undefined;
  const at = new Date(`${date}T00:00`);
  at.setDate(at.getDate() + plus);
  return at.getTime();
}
