import { useEffect, useState } from "preact/hooks";
import type { ReturnBoxHealth, ReturnPagedWebhooks, ReturnWebhook, WebhookTested, WebhooksChanged } from "../../rest";
import { get, post } from "../api";
import { useEvents } from "../events";
import { useDoing, useLoad, usePages } from "../load";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Field, Select } from "../parts/field";
import { milliseconds } from "../parts/format";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Pager, Table } from "../parts/table";
import { Time } from "../parts/time";
import { faultsOf, unplaced } from "./faults";

const states = [
  ["", "All"],
  ["waiting", "Pending"],
  ["dead", "Failed"],
  ["delivered", "Delivered in the last day"],
] as const;

// Webhooks lists pending, failed and recently delivered webhooks.
export function Webhooks({ who }: PageProps) {
  const [state, setState] = useState(""),
    [search, setSearch] = useState("");
  const list = usePages<ReturnWebhook>("/v0/box/webhooks", "webhooks_page", { state, search });
  const counts = useLoad((signal) => get<ReturnPagedWebhooks>("/v0/box/webhooks", { page_size: 1 }, signal), []);
  const [discarding, setDiscarding] = useState(false);
  const [said, setSaid] = useState("");
  const doing = useDoing();
  // The list reloads whenever the counts of the outbox change.
  const [outbox, setOutbox] = useState("");
  useEvents<ReturnBoxHealth>("/v0/box/health/events", (h) => setOutbox(`${h.webhooks.waiting} ${h.webhooks.dead}`));
  const reload = () => {
    list.reload();
    counts.reload();
  };
  useEffect(reload, [outbox]);
  const retry = (choice: { ids: string[] } | { all: true }) =>
    doing.run(async () => {
      const { changed } = await post<WebhooksChanged>("/v0/box/webhooks/retry", choice);
      setSaid(changed === 1 ? "Retrying one webhook." : `Retrying ${changed} webhooks.`);
      reload();
    });
  const { waiting = 0, dead = 0 } = counts.value ?? {};
  return (
    <>
      <div class="head">
        <h1>Webhooks</h1>
        <div class="buttons">
          <button type="button" disabled={doing.busy || waiting + dead === 0} onClick={() => void retry({ all: true })}>
            Retry all
          </button>
          <button type="button" class="danger" disabled={dead === 0} onClick={() => setDiscarding(true)}>
            Discard failed
          </button>
        </div>
      </div>
      <p>
        Notifications about chats to the receivers that configs name. A failed delivery is retried for a day, at growing
        intervals. {waiting} pending, {dead} failed in the last seven days.
      </p>
      <p role="status">{said}</p>
      <ErrorLine error={doing.error} />
      <div class="row">
        <Select label="State" value={state} set={setState} options={states} />
        <Field label="Search" type="search" value={search} set={setSearch} placeholder="URL, chat, event or error" />
      </div>
      {list.error && <Failure error={list.error} again={list.reload} />}
      {!list.value && list.loading && <Loading />}
      {list.value?.length === 0 && (
        <Empty title={search || state ? "No webhook found" : "No webhooks yet"}>
          <p>
            {search || state
              ? "Choose another state, or search for something else."
              : "A config names its receivers under “Webhooks”. Their notifications appear here."}
          </p>
        </Empty>
      )}
      {list.value && list.value.length > 0 && (
        <Table
          caption="Webhooks"
          rows={list.value}
          id={(h) => h.id}
          columns={[
            { head: "Created", cell: (h) => <Time ms={h.created_on} /> },
            {
              head: "Event",
              cell: (h) => (
                <>
                  <span class="word">{h.event}</span>
                  <br />
                  <a href={`#/chats/${h.chat_id}`} class="faint">
                    its chat<span class="unseen"> {h.chat_id}</span>
                  </a>
                </>
              ),
            },
            {
              head: "Receiver",
              cell: (h) => (
                <>
                  {h.url}
                  <br />
                  <span class="faint">{h.account}</span>
                </>
              ),
            },
            { head: "State", cell: (h) => <State h={h} /> },
            { head: "Attempts", number: true, cell: (h) => String(h.attempts) },
            {
              head: "",
              cell: (h) =>
                h.state === "delivered" ? null : (
                  <button type="button" disabled={doing.busy} onClick={() => void retry({ ids: [h.id] })}>
                    Retry
                    <span class="unseen">
                      {" "}
                      {h.event} for {h.url}
                    </span>
                  </button>
                ),
            },
          ]}
        />
      )}
      <Pager list={list} />
      <Try account={who.account} />
      {discarding && (
        <Confirm
          title="Discard failed webhooks?"
          verb="Discard"
          close={() => setDiscarding(false)}
          does={async () => {
            const { changed } = await post<WebhooksChanged>("/v0/box/webhooks/forget", { all: true });
            setSaid(changed === 1 ? "One webhook discarded." : `${changed} webhooks discarded.`);
            reload();
          }}
        >
          <p>Their receivers never get them. Parley discards failed webhooks by itself after seven days.</p>
        </Confirm>
      )}
    </>
  );
}

function State({ h }: { h: ReturnWebhook }) {
  const why = h.last_error && (
    <>
      <br />
      <span class="error">{h.last_error}</span>
    </>
  );
  if (h.state === "delivered") return <span class="tag">delivered</span>;
  if (h.state === "dead")
    return (
      <>
        <span class="tag bad">failed</span>
        {why}
      </>
    );
  if (!h.due_on) return <>waits for an earlier one</>;
  return (
    <>
      {h.attempts === 0 ? (
        "due"
      ) : (
        <>
          retry <Time ms={h.due_on} />
        </>
      )}
      {why}
    </>
  );
}

// Try sends an example to a receiver.
function Try({ account }: { account: string }) {
  const [url, setURL] = useState(""),
    [tried, setTried] = useState<WebhookTested>();
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  return (
    <section class="card">
      <h2>Test a receiver</h2>
      <p>
        Sends one signed <code>chat_started</code> event of an imaginary chat.
      </p>
      <form
        class="row"
        onSubmit={(e) => {
          e.preventDefault();
          setTried(undefined);
          void doing.run(async () => setTried(await post<WebhookTested>("/v0/box/webhooks/test", { url, account })));
        }}
      >
        <Field
          label="URL"
          type="url"
          value={url}
          set={setURL}
          error={faults.url}
          placeholder="https://shop.example/hooks/parley"
          required
        />
        <button disabled={doing.busy}>Send an example</button>
      </form>
      <ErrorLine error={unplaced(doing.error, (f) => f === "url")} />
      <p role="status">
        {tried &&
          (tried.delivered ? `Delivered in ${milliseconds(tried.milliseconds)}.` : `Not delivered: ${tried.error}`)}
      </p>
    </section>
  );
}
