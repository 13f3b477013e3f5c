import { useState } from "preact/hooks";
import type { ReturnFleet, ReturnFleetBox, ReturnFleetBoxes } from "../../rest";
import { get } from "../api";
import { useLoad } from "../load";
import type { PageProps } from "../page";
import { Check, Field, Select } from "../parts/field";
import { Figure, Figures } from "../parts/figures";
import { bytes } from "../parts/format";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { to } from "../route";
import { AddBox } from "./add_box";
import { Box } from "./box";
import { useEvery } from "./every";
import { Turner, useTurner } from "./turner";
import { Presence, Runs, celsius, complaintsOf, problemsOf } from "./words";

// refreshSeconds is how often the list is loaded again. Each box tells its state every ten seconds, or when it changes.
const refreshSeconds = 5;

// Boxes lists the boxes of the hub, or shows the one that the address names.
export function Boxes({ route }: PageProps) {
  const [name] = route.rest;
  return name ? <Box key={name} name={name} /> : <All />;
}

function All() {
  const all = useLoad(async (signal) => {
    const [fleet, boxes] = await Promise.all([
      get<ReturnFleet>("/v0/box/fleet", {}, signal),
      get<ReturnFleetBoxes>("/v0/box/fleet/boxes", {}, signal),
    ]);
    return { fleet, boxes: boxes.boxes };
  }, []);
  useEvery(all, refreshSeconds);
  const [adding, setAdding] = useState(false),
    [search, setSearch] = useState(""),
    [group, setGroup] = useState(""),
    [troubled, setTroubled] = useState(false);
  const boxes = all.value?.boxes ?? [],
    fleet = all.value?.fleet;
  const wanted = search.trim().toLowerCase();
  const found = boxes.filter(
    (b) => b.name.includes(wanted) && (!group || b.groups.includes(group)) && (!troubled || problemsOf(b).length > 0),
  );
  const turner = useTurner(found, [wanted, group, troubled]);
  return (
    <>
      <div class="head">
        <h1>Boxes</h1>
        <button type="button" class="primary" onClick={() => setAdding(true)}>
          Add a box
        </button>
      </div>
      {!all.value && all.error && <Failure error={all.error} again={all.reload} />}
      {!all.value && all.loading && <Loading />}
      {all.value && <ErrorLine error={all.error} />}
      {fleet && <Summary fleet={fleet} />}
      {fleet && boxes.length === 0 && (
        <Empty title="No box has joined yet">
          <p>
            A box that you add here gets its configs from this hub, and sends its chats to it.{" "}
            <button type="button" class="link" onClick={() => setAdding(true)}>
              Add the first one
            </button>
          </p>
        </Empty>
      )}
      {fleet && boxes.length > 0 && (
        <div class="row">
          <Field label="Name" type="search" value={search} set={setSearch} maxLength={40} />
          <Select
            label="Group"
            value={group}
            set={setGroup}
            options={[["", "All"], ...fleet.groups.map((g) => [g, g] as const)]}
          />
          <Check label="Only boxes with a problem" value={troubled} set={setTroubled} />
        </div>
      )}
      {boxes.length > 0 && found.length === 0 && (
        <Empty title="No box found">
          <p>{troubled ? "No box of these has a problem." : "Search for a part of the name."}</p>
        </Empty>
      )}
      {found.length > 0 && (
        <Table
          caption="Boxes"
          rows={turner.rows}
          id={(b) => b.name}
          columns={[
            { head: "Name", cell: (b) => <Name b={b} /> },
            { head: "State", cell: (b) => <State b={b} /> },
            { head: "Callers", number: true, cell: callers },
            { head: "Cores and disk", cell: machine },
            { head: "Runs", cell: health },
          ]}
        />
      )}
      <Turner of={turner} />
      {adding && <AddBox groups={fleet?.groups ?? []} close={() => setAdding(false)} added={all.reload} />}
    </>
  );
}

function Summary({ fleet }: { fleet: ReturnFleet }) {
  return (
    <>
      {!fleet.connected && (
        <p class="notice" role="alert">
          The hub is not connected to its NATS server, so it knows nothing new of its boxes: {fleet.why}
        </p>
      )}
      <Figures>
        <Figure name="Online" value={`${fleet.online} of ${fleet.boxes}`} />
        <Figure name="Callers" value={`${fleet.live} of ${fleet.seats}`} more="seats on boxes that are online" />
        <Figure
          name="Boxes with a problem"
          value={String(fleet.problems)}
          mood={fleet.problems > 0 ? "warn" : undefined}
        />
        <Figure
          name="Facts"
          value={`${fleet.facts_per_second.toFixed(1)} a second`}
          more={
            fleet.lost > 0
              ? `${fleet.lost} messages were lost: raise hub.keep`
              : fleet.waiting > 0
                ? `${fleet.waiting} messages wait`
                : "all are stored"
          }
          mood={fleet.lost > 0 ? "bad" : undefined}
        />
      </Figures>
    </>
  );
}

function Name({ b }: { b: ReturnFleetBox }) {
  return (
    <>
      <a class="name" href={to("boxes", b.name)}>
        {b.name}
      </a>
      {b.groups.length > 0 && (
        <>
          <br />
          <span class="faint">{b.groups.join(", ")}</span>
        </>
      )}
    </>
  );
}

const callers = (b: ReturnFleetBox) => (b.state && b.online ? `${b.state.live} of ${b.state.seats}` : "–");

function State({ b }: { b: ReturnFleetBox }) {
  return (
    <>
      <Presence b={b} />
      {b.state && (
        <>
          <br />
          <span class="faint">{b.state.version}</span>
        </>
      )}
    </>
  );
}

const degrees = (c: number | undefined) => (c === undefined ? "" : `, ${celsius(c)}`);

function machine({ state: s }: ReturnFleetBox) {
  if (!s) return "–";
  return (
    <>
      {s.load.toFixed(1)} of {s.cores}
      {degrees(s.core_celsius)}
      <br />
      <span class="faint">
        {bytes(s.disk_free)} free{degrees(s.disk_celsius)}
      </span>
    </>
  );
}

function health(b: ReturnFleetBox) {
  const all = complaintsOf(b);
  return (
    <>
      <Runs b={b} />
      {all.length > 0 && <span class="clipped">{all[0]}</span>}
      {all.length > 1 && <span class="faint">and {all.length - 1} more</span>}
    </>
  );
}
