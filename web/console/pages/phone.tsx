import { useState } from "preact/hooks";
import type { Phone as Shown, PhoneCall, PhoneTrunk } from "../../rest";
import { get, remove } from "../api";
import { useLoad, usePolling } from "../load";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { milliseconds } from "../parts/format";
import { Empty, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Clock, Time } from "../parts/time";
import { to } from "../route";
import { Call, Transfer } from "./phone_dialogs";
import { Listen } from "./phone_listen";
import { answers, from, states } from "./phone_words";
import { clock } from "./transcript";

type Open = { kind: "call" } | { kind: "listen" | "transfer" | "hang up"; call: PhoneCall };

// Phone shows the live calls, the trunks and their state, and the newest calls that have ended.
export function Phone({ who }: PageProps) {
  const phone = useLoad((signal) => get<Shown>("/v0/box/phone", {}, signal), []);
  usePolling(phone, () => true);
  const [open, setOpen] = useState<Open>();
  const close = () => {
    setOpen(undefined);
    phone.reload();
  };
  const p = phone.value;
  const sip = p && p.listeners.length > 0;
  return (
    <>
      <div class="head">
        <h1>Phone</h1>
        {sip && p.trunks.length > 0 && (
          <button type="button" class="primary" onClick={() => setOpen({ kind: "call" })}>
            Call a number
          </button>
        )}
      </div>
      {phone.error && <Failure error={phone.error} again={phone.reload} />}
      {!p && phone.loading && <Loading />}
      {p && !sip && (
        <p>
          This box takes calls over media streams of a telephone provider. For telephone calls over SIP, set{" "}
          <code>phone.listen</code>, <code>phone.trunks</code> and <code>phone.extensions</code> in{" "}
          <code>parley.yaml</code>, and restart the box.
        </p>
      )}
      {p && p.calls.length > 0 && <Live calls={p.calls} account={who.account} open={setOpen} />}
      {p && p.calls.length === 0 && (
        <Empty title="Nobody is on the phone">
          <p>Live calls appear here.</p>
        </Empty>
      )}
      {p && (sip || p.trunks.length > 0) && <Lines p={p} />}
      {p && p.ended_calls.length > 0 && <Ended calls={p.ended_calls} />}
      {p && open?.kind === "call" && <Call trunks={p.trunks} account={who.account} close={close} />}
      {open?.kind === "listen" && <Listen call={open.call} close={close} />}
      {open?.kind === "transfer" && <Transfer call={open.call} close={close} />}
      {open?.kind === "hang up" && (
        <Confirm
          title={`Hang up ${from(open.call)}?`}
          verb="Hang up"
          close={close}
          does={() => remove(`/v0/box/phone/calls/${encodeURIComponent(open.call.call_id)}`)}
        >
          <p>The call ends at once.</p>
        </Confirm>
      )}
    </>
  );
}

function Live({ calls, account, open }: { calls: PhoneCall[]; account: string; open: (what: Open) => void }) {
  return (
    <Table
      caption="Live calls"
      rows={calls}
      id={(c) => c.call_id}
      columns={[
        { head: "Call", cell: (c) => <Who call={c} /> },
        {
          head: "State",
          cell: (c) => (
            <>
              <span class="tag">{states[c.state]}</span> {c.on_hold && <span class="tag warn">on hold</span>}
            </>
          ),
        },
        { head: "Length", number: true, cell: (c) => (c.answered_on ? clock(1000 * c.duration_secs) : "–") },
        { head: "Sound", cell: (c) => <Sound call={c} /> },
        {
          head: "",
          number: true,
          cell: (c) => (
            <div class="acts">
              {c.chat_id && c.account === account && c.state !== "joined" && (
                <button type="button" onClick={() => open({ kind: "listen", call: c })}>
                  Listen<span class="unseen"> to {from(c)}</span>
                </button>
              )}
              {c.state === "talking" && (
                <button type="button" onClick={() => open({ kind: "transfer", call: c })}>
                  Transfer<span class="unseen"> {from(c)}</span>
                </button>
              )}
              <button type="button" class="danger" onClick={() => open({ kind: "hang up", call: c })}>
                Hang up<span class="unseen"> {from(c)}</span>
              </button>
            </div>
          ),
        },
      ]}
    />
  );
}

// Who names both sides of a call, and the way that it takes.
function Who({ call }: { call: PhoneCall }) {
  return (
    <>
      <span class="word">{call.direction === "inbound" ? from(call) : `to ${call.to}`}</span>
      <br />
      <span class="faint">
        {call.direction === "inbound" && `called ${call.to}, `}
        {call.trunk ? `trunk ${call.trunk}` : "media stream"}, account {call.account}
      </span>
    </>
  );
}

function Sound({ call }: { call: PhoneCall }) {
  if (!call.codec) return <span class="quiet">none yet</span>;
  const packets = call.packets_received + call.packets_lost;
  const lost = packets > 0 ? (100 * call.packets_lost) / packets : 0;
  return (
    <>
      {call.codec}
      {call.encrypted && ", encrypted"}
      <br />
      <span class={lost > 3 ? "error" : "faint"}>
        <span class="word">{lost.toFixed(1)} % lost,</span>{" "}
        <span class="word">jitter {milliseconds(call.jitter_ms)}</span>
      </span>
    </>
  );
}

const list = new Intl.ListFormat("en");
const named = (number: string) => (number === "*" ? "all other numbers" : number);

function Lines({ p }: { p: Shown }) {
  return (
    <section>
      <h2>Trunks</h2>
      <p class="faint">
        The box waits for SIP at{" "}
        {p.listeners.map((l, i) => (
          <span key={l.address}>
            {i > 0 && ", "}
            <code>{l.address}</code>
            {!l.open && <span class="error"> not open: {l.error}</span>}
          </span>
        ))}
        {p.extensions.length > 0 && (
          <>, and answers {list.format(p.extensions.map((e) => named(e.number)))}</>
        )}
        .
      </p>
      {p.trunks.length === 0 ? (
        <Empty title="No trunk is set up">
          <p>
            Nobody may call the box. Add the telephone system, router or carrier to <code>phone.trunks</code> in{" "}
            <code>parley.yaml</code>.
          </p>
        </Empty>
      ) : (
        <Table
          caption="Trunks"
          rows={p.trunks}
          id={(t) => t.name}
          columns={[
            {
              head: "Trunk",
              cell: (t) => (
                <>
                  {t.name}
                  <br />
                  <span class="faint">{t.address ?? "any address, with a password"}</span>
                </>
              ),
            },
            { head: "State", cell: (t) => <State trunk={t} /> },
            {
              head: "Last error",
              cell: (t) =>
                t.last_error ? (
                  <>
                    {t.last_error}
                    {t.last_error_on && (
                      <>
                        <br />
                        <span class="faint">
                          <Time ms={t.last_error_on} />
                        </span>
                      </>
                    )}
                  </>
                ) : (
                  <span class="quiet">none</span>
                ),
            },
          ]}
        />
      )}
    </section>
  );
}

const trunkStates = {
  ready: ["ready", "tag"],
  registering: ["registering", "tag warn"],
  registered: ["registered", "tag"],
  failed: ["not registered", "tag bad"],
} as const;

function State({ trunk }: { trunk: PhoneTrunk }) {
  const [said, kind] = trunkStates[trunk.state];
  return (
    <>
      <span class={kind}>{said}</span>
      {trunk.registered_at && <span class="faint"> at {trunk.registered_at}</span>}
    </>
  );
}

function Ended({ calls }: { calls: PhoneCall[] }) {
  return (
    <section>
      <h2>Ended calls</h2>
      <Table
        caption="Ended calls"
        rows={calls}
        id={(c) => c.call_id}
        columns={[
          {
            head: "Began",
            cell: (c) =>
              c.chat_id ? (
                <a href={to("chats", c.chat_id)}>
                  <Clock ms={c.started_on} />
                </a>
              ) : (
                <Clock ms={c.started_on} />
              ),
          },
          { head: "Call", cell: (c) => <Who call={c} /> },
          { head: "Length", number: true, cell: (c) => (c.answered_on ? clock(1000 * c.duration_secs) : "–") },
          {
            head: "End",
            cell: (c) => (
              <>
                {c.answered_by && c.answered_by !== "person" && (
                  <span class="tag warn">{answers[c.answered_by]}</span>
                )}{" "}
                {c.end_reason}
              </>
            ),
          },
        ]}
      />
    </section>
  );
}
