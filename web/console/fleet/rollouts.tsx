import type { ReturnRollout } from "../../rest";
import { usePages } from "../load";
import type { PageProps } from "../page";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Pager, Table } from "../parts/table";
import { Time } from "../parts/time";
import { to } from "../route";
import { useEvery } from "./every";
import { NewRollout } from "./new_rollout";
import { Rollout } from "./rollout";
import { StateTag, contentWords, itemWords, targetWords } from "./words";

const refreshSeconds = 5;

// Rollouts lists the roll-outs, shows the one that the address names, or begins one.
export function Rollouts({ route, who }: PageProps) {
  const [id] = route.rest;
  if (id === "new") return <NewRollout account={who.account} given={route.query} />;
  if (id) return <Rollout key={id} id={id} />;
  return <All />;
}

function All() {
  const list = usePages<ReturnRollout>("/v0/box/fleet/rollouts", "rollouts_page");
  useEvery(list, refreshSeconds);
  return (
    <>
      <div class="head">
        <h1>Roll-outs</h1>
        <a class="button primary" href={to("rollouts", "new")}>
          Begin a roll-out
        </a>
      </div>
      <p>
        What this hub has boxes run, newest first. A roll-out takes one version to its boxes; what you edit later stays
        here until you roll it out too.
      </p>
      {!list.value && list.error && <Failure error={list.error} again={list.reload} />}
      {!list.value && list.loading && <Loading />}
      {list.value && <ErrorLine error={list.error} />}
      {list.value?.length === 0 && (
        <Empty title="Nothing is rolled out yet">
          <p>
            The boxes have the keys of your clients, and nothing else of this hub.{" "}
            <a href={to("rollouts", "new")}>Begin a roll-out</a>
          </p>
        </Empty>
      )}
      {list.value && list.value.length > 0 && (
        <Table
          caption="Roll-outs"
          rows={list.value}
          id={(r) => String(r.id)}
          columns={[
            { head: "What", cell: (r) => <a href={to("rollouts", String(r.id))}>{itemWords(r.item)}</a> },
            { head: "Which", cell: (r) => <span class="clipped">{contentWords(r)}</span> },
            { head: "To", cell: (r) => targetWords(r.target) },
            { head: "State", cell: (r) => <State r={r} /> },
            { head: "Boxes", number: true, cell: (r) => counts(r) },
            { head: "Begun", cell: (r) => <Time ms={r.created_on} /> },
          ]}
        />
      )}
      <Pager list={list} />
    </>
  );
}

function State({ r }: { r: ReturnRollout }) {
  return (
    <>
      <StateTag state={r.state} /> {r.why && r.state !== "done" && <span class="faint clipped">{r.why}</span>}
    </>
  );
}

function counts(r: ReturnRollout): string {
  const all = r.running + r.waiting + r.failed;
  return all === 0 ? "–" : `${r.running} of ${all}`;
}
