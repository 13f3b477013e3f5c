import { useState } from "preact/hooks";
import type { ReturnRollout } from "../../rest";
import { get, post } from "../api";
import { useLoad } from "../load";
import { Confirm } from "../parts/dialog";
import { Check } from "../parts/field";
import { span } from "../parts/format";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Clock } from "../parts/time";
import { to } from "../route";
import { useEvery } from "./every";
import { Turner, useTurner } from "./turner";
import { StateTag, contentWords, itemWords, targetWords } from "./words";

// refreshSeconds is how often a roll-out that goes on is loaded again, and restSeconds one that is done: a box may join
// its target later.
const refreshSeconds = 2,
  restSeconds = 15;

const goesOn = (r: ReturnRollout | undefined) => r?.state === "canary" || r?.state === "rolling";

// Rollout shows how far a roll-out is on each box.
export function Rollout({ id }: { id: string }) {
  const path = `/v0/box/fleet/rollouts/${encodeURIComponent(id)}`;
  const one = useLoad((signal) => get<ReturnRollout>(path, {}, signal), [path]);
  useEvery(one, goesOn(one.value) ? refreshSeconds : restSeconds);
  const [asking, setAsking] = useState<"stop" | "continue">();
  const close = () => setAsking(undefined);
  const r = one.value;
  const act = (what: "stop" | "continue") => async () => {
    await post(`${path}/${what}`);
    one.reload();
  };
  return (
    <>
      <p>
        <a href={to("rollouts")}>All roll-outs</a>
      </p>
      {!r && <h1>Roll-out</h1>}
      {!r && one.error && <Failure error={one.error} again={one.reload} />}
      {!r && one.loading && <Loading />}
      {r && (
        <>
          <div class="head">
            <h1>
              {itemWords(r.item)}
              {contentWords(r) && `, ${contentWords(r)}`}
            </h1>
            <StateTag state={r.state} />
          </div>
          <p class="faint">
            To {targetWords(r.target)}, begun <Clock ms={r.created_on} />
            {r.item.account && `, of account ${r.item.account}`}. Roll-out {r.id}
          </p>
          <ErrorLine error={one.error} />
          {r.why && !r.soaked_from && r.state === "canary" && <p>{sentence(r.why)}</p>}
          {r.why && r.state === "stopped" && <p>{sentence(r.why)}</p>}
          {r.why && r.state === "failed" && <p class="notice">{sentence(r.why)}</p>}
          <Canaries r={r} />
          <Progress r={r} />
          <div class="buttons">
            {r.state === "canary" && (
              <button type="button" class="primary" onClick={() => setAsking("continue")}>
                Continue now
              </button>
            )}
            {(goesOn(r) || r.state === "done") && (
              <button type="button" class="danger" onClick={() => setAsking("stop")}>
                {r.state === "done" ? "Take it back" : "Stop"}
              </button>
            )}
          </div>
          <Boxes r={r} />
          {asking === "continue" && (
            <Confirm title="Go to the whole target now?" verb="Continue" close={close} does={act("continue")}>
              <p>It goes to {targetWords(r.target)} at once, before the canaries have run it for their time.</p>
            </Confirm>
          )}
          {asking === "stop" && (
            <Confirm title="Take it back?" verb="Take it back" close={close} does={act("stop")}>
              <p>The boxes that run it run again what they ran of {itemWords(r.item)} before.</p>
            </Confirm>
          )}
        </>
      )}
    </>
  );
}

const sentence = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.?$/, ".");

function Canaries({ r }: { r: ReturnRollout }) {
  if (r.canary.length === 0 || !goesOn(r)) return null;
  const left = r.soaked_from ? r.soaked_from + r.soak_minutes * 60_000 - Date.now() : undefined;
  return (
    <p>
      First on {r.canary.slice(0, 5).join(", ")}
      {r.canary.length > 5 && ` and ${r.canary.length - 5} more`}.{" "}
      {r.state === "canary" &&
        (left === undefined
          ? `When all of them run it, ${r.soak_minutes} minutes without a new problem must pass.`
          : left > 0
            ? `All run it. It goes on in ${left < 60_000 ? "less than a minute" : span(left)} if no problem comes.`
            : "All run it, and their time is over.")}
    </p>
  );
}

function Progress({ r }: { r: ReturnRollout }) {
  const all = r.running + r.waiting + r.failed;
  if (all === 0) return null;
  const words =
    `${r.running} of ${all} boxes run it` +
    (r.waiting > 0 ? `, ${r.waiting} wait` : "") +
    (r.failed > 0 ? `, ${r.failed} cannot` : "");
  return (
    <div class="narrow-progress">
      <progress value={r.running} max={all} aria-label="Boxes that run it" />
      <p role="status">{words}</p>
    </div>
  );
}

function Boxes({ r }: { r: ReturnRollout }) {
  const [open, setOpen] = useState(false);
  const all = r.boxes ?? [];
  const found = open ? all.filter((b) => b.state !== "running") : all;
  const turner = useTurner(found, [open]);
  if (all.length === 0) return null;
  return (
    <section>
      <h2>Boxes</h2>
      <Check label="Only boxes that do not run it" value={open} set={setOpen} />
      {found.length === 0 && <p class="quiet">All boxes run it.</p>}
      {found.length > 0 && (
        <Table
          caption="Boxes of the roll-out"
          rows={turner.rows}
          id={(b) => b.box}
          columns={[
            {
              head: "Box",
              cell: (b) => (
                <>
                  <a href={to("boxes", b.box)}>{b.box}</a> {b.canary && <span class="tag plain">canary</span>}
                </>
              ),
            },
            { head: "State", cell: (b) => <StateTag state={b.state} /> },
            { head: "Online", cell: (b) => (b.online ? "yes" : "no") },
            { head: "Why", cell: (b) => b.why },
          ]}
        />
      )}
      <Turner of={turner} />
    </section>
  );
}
