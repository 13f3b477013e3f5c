import { useEffect, useState } from "preact/hooks";
import type { ReturnBoxHealth, ReturnPagedWebhooks, ReturnWebhook, WebhookTested, WebhooksChanged } from "../../rest";
import { get, post } from "../api";
import { useEvents } from "../events";
import { useDoing, useLoad, usePages } from "../load";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Field, Select } from "../parts/field";
import { milliseconds } from "../parts/figure";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Pager, Table } from "../parts/table";
import { Time } from "../parts/time";
import { faultsOf, unplaced } from "./faults";

const states = [
  ["", "All"],
  ["waiting", "Waiting"],
  ["dead", "Given up"],
  ["delivered", "Delivered, in the last day"],
] as const;

// Webhooks are what receivers are still to be told, and were lately.
export function Webhooks({ who }: PageProps) {
  const [state, setState] = useState(""),
    [search, setSearch] = useState("");
  const list = usePages<ReturnWebhook>("/v0/box/webhooks", "webhooks_page", { state, search });
  const counts = useLoad((signal) => get<ReturnPagedWebhooks>("/v0/box/webhooks", { page_size: 1 }, signal), []);
  const [forgetting, setForgetting] = useState(false);
  const [said, setSaid] = useState("");
  const doing = useDoing();
  // What changes in the outbox shows at once.
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
      setSaid(changed === 1 ? "One is tried again now." : `${changed} are tried again now.`);
      reload();
    });
  const { waiting = 0, dead = 0 } = counts.value ?? {};
  return (
    <>
      <div class="head">
        <h1>Webhooks</h1>
        <div class="buttons">
          <button type="button" disabled={doing.busy || waiting + dead === 0} onClick={() => void retry({ all: true })}>
            Try all again
          </button>
          <button type="button" class="danger" disabled={dead === 0} onClick={() => setForgetting(true)}>
            Forget those given up
          </button>
        </div>
      </div>
      <p>
        What the receivers that configs name are told of chats. One that fails is tried again for a day, later and
        later. {waiting} wait, {dead} were given up in the last seven days.
      </p>
      <p role="status">{said}</p>
      <ErrorLine error={doing.error} />
      <div class="row">
        <Select label="Which" value={state} set={setState} options={states} />
        <Field label="Search" type="search" value={search} set={setSearch} placeholder="URL, chat, event or error" />
      </div>
      {list.error && <Failure error={list.error} again={list.reload} />}
      {!list.value && list.loading && <Loading />}
      {list.value?.length === 0 && (
        <Empty title={search || state ? "No webhook is like that" : "No webhooks yet"}>
          <p>
            {search || state
              ? "Choose others, or search for something else."
              : "A config names receivers of webhooks under “Webhooks”; what they are told of its chats stands here."}
          </p>
        </Empty>
      )}
      {list.value && list.value.length > 0 && (
        <Table
          caption="Webhooks"
          rows={list.value}
          id={(h) => h.id}
          columns={[
            { head: "Of", cell: (h) => <Time ms={h.created_on} /> },
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
                    Try again
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
      {forgetting && (
        <Confirm
          title="Forget those that were given up?"
          verb="Forget them"
          close={() => setForgetting(false)}
          does={async () => {
            const { changed } = await post<WebhooksChanged>("/v0/box/webhooks/forget", { all: true });
            setSaid(changed === 1 ? "One is forgotten." : `${changed} are forgotten.`);
            reload();
          }}
        >
          <p>Their receivers are never told. They would be forgotten by themselves after seven days.</p>
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
        <span class="tag bad">given up</span>
        {why}
      </>
    );
  if (!h.due_on) return <>waits for the one before it</>;
  return (
    <>
      {h.attempts === 0 ? (
        "due"
      ) : (
        <>
          again <Time ms={h.due_on} />
        </>
      )}
      {why}
    </>
  );
}

// Try sends a receiver an example.
function Try({ account }: { account: string }) {
  const [url, setURL] = useState(""),
    [tried, setTried] = useState<WebhookTested>();
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  return (
    <section class="card">
      <h2>Try a receiver</h2>
      <p>
        It is sent a signed <code>chat_started</code> of a chat that there never was, once.
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
        <button disabled={doing.busy}>Send it</button>
      </form>
      <ErrorLine error={unplaced(doing.error, (f) => f === "url")} />
      <p role="status">
        {tried &&
          (tried.delivered ? `Delivered, in ${milliseconds(tried.milliseconds)}.` : `Not delivered: ${tried.error}`)}
      </p>
    </section>
  );
}
