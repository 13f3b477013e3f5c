import { useEffect, useState } from "preact/hooks";
import type { AnswerItem, ReportedQuestion, ReturnAnswersReport } from "../../rest";
import { get } from "../api";
import { type Loaded, useDoing, useLoad } from "../load";
import { Dialog } from "../parts/dialog";
import { Select } from "../parts/field";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Time } from "../parts/time";
import { to } from "../route";
import { type Row, waysOf } from "./rows";
import { tryOut } from "./try";

const spans = [
  ["7", "The last week"],
  ["30", "The last month"],
  ["365", "The last year"],
] as const;

// mostShown is how many groups of questions are listed.
const mostShown = 100;

const dayMS = 86_400_000;

// useReport loads what was asked in the chats of a config in the last days.
export function useReport(config: string) {
  const [days, setDays] = useState("30");
  const report = useLoad(
    (signal) => {
      const from = Date.now() - Number(days) * dayMS;
      return get<ReturnAnswersReport>("/v0/box/answers/report", { config_id: config, from }, signal);
    },
    [config, days],
  );
  return { report, days, setDays };
}

// stillOpen returns the questions that have not become ways of asking since.
export function stillOpen(all: ReportedQuestion[] | undefined, rows: Row[]): ReportedQuestion[] | undefined {
  if (!all?.length) return all;
  const ways = new Set(rows.flatMap((r) => waysOf(r.ask.toLowerCase())));
  return all.filter((q) => !ways.has(q.text.trim().toLowerCase()));
}

// Asked lists the questions that no answer fitted.
export function Asked({
  report,
  open: all,
  days,
  setDays,
  items,
  make,
  addTo,
}: {
  report: Loaded<ReturnAnswersReport>;
  open: ReportedQuestion[] | undefined;
  days: string;
  setDays: (days: string) => void;
  items: () => AnswerItem[];
  make: (asked: ReportedQuestion) => void;
  addTo: (id: string, asked: ReportedQuestion) => void;
}) {
  const [adding, setAdding] = useState<ReportedQuestion>();
  return (
    <>
      <h2>Asked, and not answered</h2>
      <p>
        Questions that no approved answer fitted, those of the same meaning together. Chats without history are not
        among them.
      </p>
      <Select label="Time" value={days} set={setDays} options={spans} />
      {report.error && <Failure error={report.error} again={report.reload} />}
      {!report.value && report.loading && <Loading />}
      {all?.length === 0 && (
        <Empty title="Nothing was left open">
          <p>What people ask and no answer fits appears here.</p>
        </Empty>
      )}
      {all && all.length > 0 && (
        <Table
          caption="Asked, and not answered"
          rows={all.slice(0, mostShown)}
          id={(q) => q.chat_id + q.text}
          columns={[
            { head: "Asked", cell: (q) => <Wording q={q} /> },
            { head: "Times", number: true, cell: (q) => q.count },
            {
              head: "Last",
              cell: (q) => (
                <a href={to("chats", q.chat_id)}>
                  <Time ms={q.last_on} />
                </a>
              ),
            },
            {
              head: "",
              cell: (q) => (
                <span class="acts">
                  <button type="button" onClick={() => make(q)}>
                    New answer<span class="unseen"> to {q.text}</span>
                  </button>
                  <button type="button" disabled={items().length === 0} onClick={() => setAdding(q)}>
                    Add to …<span class="unseen"> {q.text}</span>
                  </button>
                </span>
              ),
            },
          ]}
        />
      )}
      {all && all.length > mostShown && <p class="faint">The oldest of {all.length} groups are not shown.</p>}
      {adding && (
        <AddTo
          asked={adding}
          items={items()}
          close={() => setAdding(undefined)}
          add={(id) => {
            setAdding(undefined);
            addTo(id, adding);
          }}
        />
      )}
    </>
  );
}

function Wording({ q }: { q: ReportedQuestion }) {
  return (
    <>
      {q.text}
      {q.texts.length > 0 && (
        <details>
          <summary>Also worded</summary>
          <ul>
            {q.texts.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

// AddTo asks to which answer a question is added as a way of asking. It offers the nearest first.
function AddTo({
  asked,
  items,
  add,
  close,
}: {
  asked: ReportedQuestion;
  items: AnswerItem[];
  add: (id: string) => void;
  close: () => void;
}) {
  const [near, setNear] = useState<string[]>();
  const [chosen, setChosen] = useState("");
  const doing = useDoing();
  useEffect(() => {
    void doing.run(async () => {
      const { answer_id, others } = await tryOut(items, asked.text);
      const ids = [...(answer_id ? [answer_id] : []), ...others.map((o) => o.answer_id)];
      setNear([...new Set(ids)]);
    });
  }, []);
  const byID = new Map(items.map((item) => [item.id, item]));
  const order = [...new Set([...(near ?? []).filter((id) => byID.has(id)), ...byID.keys()])];
  const id = chosen || order[0]!;
  return (
    <Dialog title="Add a way of asking" close={close}>
      <p>“{asked.text}”</p>
      <ErrorLine error={doing.error} />
      {!near && !doing.error ? (
        <Loading />
      ) : (
        <>
          <Select
            label="Answer"
            value={id}
            set={setChosen}
            options={order.map((one) => [one, one] as const)}
            help="The nearest are first."
          />
          <p class="bubble box">{byID.get(id)?.say}</p>
        </>
      )}
      <div class="buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button type="button" class="primary" disabled={!near && !doing.error} onClick={() => add(id)}>
          Add
        </button>
      </div>
    </Dialog>
  );
}
