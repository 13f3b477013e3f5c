import { useState } from "preact/hooks";
import type { BatchJob } from "../../rest";
import { get } from "../api";
import { Job } from "../expression/job";
import { Basis, State, isOpen, whatOf } from "../expression/job_state";
import { NewJob } from "../expression/new_job";
import { useDoing, useLoad, usePolling } from "../load";
import type { PageProps } from "../page";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Time } from "../parts/time";
import { go, to } from "../route";
import "../shared";

declare const BUILD: string;

// build is the build of this script: see later.tsx.
export const build = BUILD;

// Page scores the expression in files and texts, and shows the jobs that did so, or the one that the address
// names.
export function Page({ route }: PageProps) {
  const [id] = route.rest;
  if (id) return <Job key={id} id={id} />;
  return <Jobs />;
}

// How many jobs are listed at first, and with each press of "Show older".
const listed = 25;

function Jobs() {
  const jobs = useLoad((signal) => get<BatchJob[]>("/v0/batch/jobs", { limit: listed }, signal), []);
  usePolling(jobs, (all) => all.some(isOpen));
  const [older, setOlder] = useState<BatchJob[]>([]);
  const [ended, setEnded] = useState(false);
  const doing = useDoing();
  const all = [...(jobs.value ?? []), ...older.filter((o) => !jobs.value?.some((j) => j.job_id === o.job_id))];
  const showOlder = () =>
    doing.run(async () => {
      const before = all.at(-1)!.state.created_timestamp_ms;
      const more = await get<BatchJob[]>("/v0/batch/jobs", { limit: listed, timestamp_ms: before });
      setOlder([...older, ...more]);
      setEnded(more.length < listed);
    });
  return (
    <>
      <h1>Expression</h1>
      <Basis />
      <NewJob started={(id) => go(to("expression", id))} />
      <h2>Jobs</h2>
      {jobs.error && <Failure error={jobs.error} again={jobs.reload} />}
      {!jobs.value && jobs.loading && <Loading />}
      {jobs.value && all.length === 0 && (
        <Empty title="Nothing was analysed yet">
          <p>Choose a file or write a text, and its scores appear here.</p>
        </Empty>
      )}
      {all.length > 0 && (
        <Table
          caption="Jobs"
          rows={all}
          id={(j) => j.job_id}
          columns={[
            { head: "Of", cell: (j) => <a href={to("expression", j.job_id)}>{whatOf(j.request)}</a> },
            { head: "Started", cell: (j) => <Time ms={j.state.created_timestamp_ms} /> },
            { head: "Scores", number: true, cell: (j) => j.state.num_predictions ?? "–" },
            {
              head: "Errors",
              number: true,
              cell: (j) => j.state.num_errors ?? "–",
            },
            { head: "State", cell: (j) => <State job={j} /> },
          ]}
        />
      )}
      <ErrorLine error={doing.error} />
      {!ended && all.length >= listed && (
        <div class="buttons">
          <button type="button" disabled={doing.busy} onClick={() => void showOlder()}>
            Show older
          </button>
        </div>
      )}
    </>
  );
}
