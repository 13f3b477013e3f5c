import { useState } from "preact/hooks";
import type { FleetBoxItem, ReturnFleet, ReturnFleetBox, ReturnFleetBoxItems } from "../../rest";
import { get, remove, withQuery } from "../api";
import { useLoad } from "../load";
import { Confirm } from "../parts/dialog";
import { Figure, Figures } from "../parts/figures";
import { bytes, milliseconds } from "../parts/format";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Time } from "../parts/time";
import { go, to } from "../route";
import { NewJoinFile } from "./add_box";
import { useEvery } from "./every";
import { ChangeGroups } from "./groups";
import { History } from "./history";
import { Presence, Runs, StateTag, celsius, contentWords, itemWords, problemsOf, targetWords } from "./words";

const refreshSeconds = 5;

type Asking = "groups" | "join" | "remove";

// Box shows one box of the hub.
export function Box({ name }: { name: string }) {
  const path = `/v0/box/fleet/boxes/${encodeURIComponent(name)}`;
  const all = useLoad(
    async (signal) => {
      const [box, items, fleet] = await Promise.all([
        get<ReturnFleetBox>(path, {}, signal),
        get<ReturnFleetBoxItems>(`${path}/items`, {}, signal),
        get<ReturnFleet>("/v0/box/fleet", {}, signal),
      ]);
      return { box, items: items.items, hub: fleet.name };
    },
    [path],
  );
  useEvery(all, refreshSeconds);
  const [asking, setAsking] = useState<Asking>();
  const b = all.value?.box;
  const close = () => setAsking(undefined);
  return (
    <>
      <p>
        <a href={to("boxes")}>All boxes</a>
      </p>
      <div class="head">
        <h1>{name}</h1>
        {b && <Presence b={b} />}
      </div>
      {!b && all.error && <Failure error={all.error} again={all.reload} />}
      {!b && all.loading && <Loading />}
      {b && (
        <>
          <ErrorLine error={all.error} />
          <p class="faint">
            {b.groups.length > 0 ? `In ${b.groups.join(", ")}` : "In no group"}. Added <Time ms={b.added_on} />
            {b.joined_on !== b.added_on && (
              <>
                , with a file made <Time ms={b.joined_on} />
              </>
            )}
            .{" "}
            <a href={withQuery(to("chats"), { box: name })}>
              {b.chats === 1 ? "1 chat" : `${b.chats.toLocaleString()} chats`}
            </a>
            , <a href={withQuery(to("audit", "boxes"), { box: name })}>what was changed on it</a>
          </p>
          <Problems b={b} />
          <Now b={b} />
          <section>
            <div class="head">
              <h2>What it runs</h2>
              <a class="button" href={withQuery(to("rollouts", "new"), { target: `box:${name}` })}>
                Roll something out to it
              </a>
            </div>
            <Running b={b} items={all.value!.items} />
          </section>
          <History path={path} />
          <div class="buttons">
            <button type="button" onClick={() => setAsking("groups")}>
              Change groups
            </button>
            <button type="button" onClick={() => setAsking("join")}>
              New join file
            </button>
            <button type="button" class="danger" onClick={() => setAsking("remove")}>
              Remove
            </button>
          </div>
          {asking === "groups" && <ChangeGroups name={name} groups={b.groups} close={close} changed={all.reload} />}
          {asking === "join" && <NewJoinFile name={name} close={close} made={all.reload} />}
          {asking === "remove" && (
            <Confirm
              title={`Remove ${name}?`}
              verb="Remove the box"
              close={close}
              does={async () => {
                await remove(path);
                go(to("boxes"));
              }}
            >
              <p>
                Its credentials stop working at once. Its chats stay on the hub {all.value!.hub}, and the box goes on
                with what it runs now. It can be added again under its name.
              </p>
            </Confirm>
          )}
        </>
      )}
    </>
  );
}

function Problems({ b }: { b: ReturnFleetBox }) {
  const all = problemsOf(b);
  if (!b.seen_on)
    return <p class="notice">It was never heard of. Put its file on the box, and name it there as fleet.join.</p>;
  if (all.length === 0) return null;
  return (
    <ul class="notice">
      {all.map((p) => (
        <li key={p}>{p}</li>
      ))}
    </ul>
  );
}

function Now({ b }: { b: ReturnFleetBox }) {
  const s = b.state;
  if (!s) return null;
  return (
    <Figures>
      <Figure name="Callers" value={`${s.live} of ${s.seats}`} more={s.address || "no address for callers"} />
      <Figure
        name="Answers after the silence"
        value={s.added_ms > 0 ? milliseconds(s.added_ms) : "none yet"}
        more="95th percentile of the last hour"
      />
      <Figure
        name="Load"
        value={`${s.load.toFixed(1)} of ${s.cores} cores`}
        more={`cores ${celsius(s.core_celsius)}`}
      />
      <Figure name="Memory" value={`${bytes(s.memory_free)} free`} more={`of ${bytes(s.memory_total)}`} />
      <Figure
        name="Disk"
        value={`${bytes(s.disk_free)} free`}
        more={`of ${bytes(s.disk_total)}, ${celsius(s.disk_celsius)}`}
      />
      <Figure
        name="Facts to send"
        value={String(s.facts_waiting)}
        more={s.facts_dropped > 0 ? `${s.facts_dropped} were dropped` : undefined}
        mood={s.facts_dropped > 0 ? "warn" : undefined}
      />
      <Figure name="Version" value={s.version} />
    </Figures>
  );
}

function Running({ b, items }: { b: ReturnFleetBox; items: FleetBoxItem[] }) {
  return (
    <>
      <p>
        <Runs b={b} />{" "}
        {b.state && (
          <span class="faint">
            It runs revision {b.state.running}, and is to run {b.wanted}.
          </span>
        )}
      </p>
      {items.length === 0 ? (
        <p class="quiet">Nothing is rolled out to it. It runs what it has of its own.</p>
      ) : (
        <Table
          caption="What it is to run"
          rows={items}
          id={(i) => String(i.rollout)}
          columns={[
            { head: "What", cell: (i) => itemWords(i.item) },
            { head: "Which", cell: (i) => <span class="clipped">{contentWords(i)}</span> },
            {
              head: "Because of",
              cell: (i) => <a href={to("rollouts", String(i.rollout))}>{targetWords(i.target)}</a>,
            },
            {
              head: "State",
              cell: (i) => (
                <>
                  <StateTag state={i.state} /> {i.why && <span class="faint">{i.why}</span>}
                </>
              ),
            },
          ]}
        />
      )}
    </>
  );
}
