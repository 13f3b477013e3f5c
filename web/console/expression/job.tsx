import { useMemo, useState } from "preact/hooks";
import type { BatchJob, InferencePrediction, SourceResult } from "../../rest";
import { get, remove } from "../api";
import { useLoad, usePolling } from "../load";
import { Confirm } from "../parts/dialog";
import { Select } from "../parts/field";
import { milliseconds } from "../parts/format";
import { Failure, Loading } from "../parts/notice";
import { Time } from "../parts/time";
import { go, to } from "../route";
import { FileScores } from "./file";
import { Basis, State, isOpen, whatOf } from "./job_state";

// How many errors are listed; the artifacts have all.
const listedErrors = 100;

// Job shows the state of a job, and its results when it is done.
export function Job({ id }: { id: string }) {
  const path = `/v0/batch/jobs/${encodeURIComponent(id)}`;
  const job = useLoad((signal) => get<BatchJob>(path, {}, signal), [id]);
  usePolling(job, isOpen);
  const [deleting, setDeleting] = useState(false);
  const j = job.value;
  return (
    <>
      <p>
        <a href={to("expression")}>All jobs</a>
      </p>
      <div class="head">
        <h1>{j ? whatOf(j.request) : "Job"}</h1>
        {j && (
          <span role="status">
            <State job={j} />
          </span>
        )}
      </div>
      {job.error && <Failure error={job.error} again={job.reload} />}
      {!j && job.loading && <Loading />}
      {j && (
        <>
          <p class="faint">
            Started <Time ms={j.state.created_timestamp_ms} />
            {j.state.ended_timestamp_ms && j.state.started_timestamp_ms && (
              <>, took {milliseconds(j.state.ended_timestamp_ms - j.state.started_timestamp_ms)}</>
            )}
            {j.state.status === "COMPLETED" && <>, predictions: {j.state.num_predictions}</>}. Job{" "}
            <code>{j.job_id}</code>
          </p>
          {isOpen(j) && <Running job={j} />}
          {j.state.status === "FAILED" && (
            <p class="error" role="alert">
              The job failed: {j.state.message}
            </p>
          )}
          {j.state.status === "COMPLETED" && <Results job={j} path={path} />}
          <div class="buttons">
            <button type="button" class="danger" onClick={() => setDeleting(true)}>
              Delete
            </button>
          </div>
        </>
      )}
      {deleting && (
        <Confirm
          title="Delete this job?"
          verb="Delete"
          close={() => setDeleting(false)}
          does={async () => {
            await remove(path);
            go(to("expression"));
          }}
        >
          <p>This deletes its scores{j && isOpen(j) && ", and ends its work"}. It cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

function Running({ job }: { job: BatchJob }) {
  const { num_sources: all, num_sources_done: done } = job.state;
  const several = all !== undefined && all > 1;
  return (
    <p>
      <progress aria-label="The job runs" max={several ? all : undefined} value={several ? done : undefined} />{" "}
      {several && <>{`${done} of ${all} are done. `}</>}The box works on it when no conversation needs its models. You
      may leave this page; the job goes on.
    </p>
  );
}

// One file of the results, with the source that it came from.
interface Scored {
  result: SourceResult;
  prediction: InferencePrediction;
}

// Results shows the predictions of a job, one file at a time.
function Results({ job, path }: { job: BatchJob; path: string }) {
  const results = useLoad((signal) => get<SourceResult[]>(path + "/predictions", {}, signal), [path]);
  const [chosen, setChosen] = useState(0);
  const files = useMemo(() => {
    const all: Scored[] = [];
    for (const result of results.value ?? [])
      for (const prediction of result.results?.predictions ?? []) all.push({ result, prediction });
    return all;
  }, [results.value]);
  if (results.error) return <Failure error={results.error} again={results.reload} />;
  if (!results.value) return <Loading />;
  const shown = files[chosen];
  return (
    <>
      <Errors results={results.value} />
      {files.length > 1 && (
        <Select
          label={`File (${files.length})`}
          value={String(chosen)}
          set={(n) => setChosen(Number(n))}
          options={files.map((f, i) => [String(i), f.prediction.file] as const)}
        />
      )}
      {shown && <FileScores key={chosen} job={job} result={shown.result} prediction={shown.prediction} />}
      <Basis />
      <div class="buttons">
        <a class="button" href={path + "/artifacts"} download={`artifacts-${job.job_id}.zip`}>
          Save all as CSV (zip)
        </a>
        <a class="button" href={path + "/predictions"} download={`predictions-${job.job_id}.json`}>
          Save all as JSON
        </a>
      </div>
    </>
  );
}

function Errors({ results }: { results: SourceResult[] }) {
  const all = results.flatMap((r) => [
    ...(r.error ? [{ file: r.source.url ?? r.source.filename ?? r.source.type, message: r.error }] : []),
    ...(r.results?.errors ?? []),
  ]);
  if (all.length === 0) return null;
  return (
    <section class="card" aria-label="Errors">
      <h2>{all.length === 1 ? "One error" : `${all.length} errors`}</h2>
      <ul>
        {all.slice(0, listedErrors).map((e, i) => (
          <li key={i} class="error">
            {e.file}: {e.message}
          </li>
        ))}
        {all.length > listedErrors && <li>and {all.length - listedErrors} more</li>}
      </ul>
    </section>
  );
}
