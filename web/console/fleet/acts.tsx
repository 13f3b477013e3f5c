import { useState } from "preact/hooks";
import type { ReturnFleetAct, ReturnFleetBoxes } from "../../rest";
import { get, withQuery } from "../api";
import { useLoad, usePages } from "../load";
import type { PageProps } from "../page";
import { Select } from "../parts/field";
import { Empty, Failure, Loading } from "../parts/notice";
import { Pager, Table } from "../parts/table";
import { Clock } from "../parts/time";
import { Outcome, What, Where, Who } from "../pages/act";
import { go, to } from "../route";

const kinds = [
  ["", "Everything"],
  ["act", "What people changed"],
  ["webhook", "Webhooks"],
  ["dropped", "What the hub will never get"],
  ["rejected", "What the hub could not store"],
] as const;

// BoxActs lists what happened on the boxes of the hub.
export function BoxActs({ route }: PageProps) {
  const box = route.query.get("box") ?? "";
  const [kind, setKind] = useState("act");
  const list = usePages<ReturnFleetAct>("/v0/box/fleet/acts", "acts_page", { box, kind });
  const boxes = useLoad((signal) => get<ReturnFleetBoxes>("/v0/box/fleet/boxes", {}, signal), []);
  const names = new Set([...(boxes.value?.boxes ?? []).map((b) => b.name), ...(box ? [box] : [])]);
  return (
    <>
      <h1>Audit</h1>
      <p>
        What happened on the boxes, newest first. <a href={to("audit")}>What happened on this hub</a>
      </p>
      <div class="row">
        <Select
          label="Box"
          value={box}
          set={(box) => go(withQuery(to("audit", "boxes"), { box }))}
          options={[["", "All"] as const, ...[...names].map((n) => [n, n] as const)]}
        />
        <Select label="What" value={kind} set={setKind} options={kinds} />
      </div>
      {list.error && <Failure error={list.error} again={list.reload} />}
      {!list.value && list.loading && <Loading />}
      {list.value?.length === 0 && (
        <Empty title="Nothing found">
          <p>What boxes do while they are offline appears here when they are back.</p>
        </Empty>
      )}
      {list.value && list.value.length > 0 && (
        <Table
          caption="What happened on the boxes"
          rows={list.value}
          id={(a) => String(a.id)}
          columns={[
            { head: "When", cell: (a) => <Clock ms={a.on} /> },
            { head: "Box", cell: (a) => <a href={to("boxes", a.box)}>{a.box}</a> },
            { head: "Who", cell: ({ act }) => act && <Who a={act} /> },
            { head: "What", cell: (a) => (a.act ? <What a={a.act} /> : a.text) },
            { head: "On", cell: ({ act }) => act && <Where a={act} /> },
            { head: "Outcome", cell: ({ act }) => act && <Outcome a={act} /> },
          ]}
        />
      )}
      <Pager list={list} />
    </>
  );
}
