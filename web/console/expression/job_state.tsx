import type { BatchJob, BatchRequest, StateInference } from "../../rest";

// Basis says what the scores rest on.
export function Basis() {
  return (
    <p>
      Scores are guesses of small models, which know seven expressions of a face or voice and 28 of a text and derive
      all names from these; do not judge people by them (<code>docs/expression.md</code>).
    </p>
  );
}

const states: Record<StateInference["status"], readonly [string, string]> = {
  QUEUED: ["waiting", "tag plain"],
  IN_PROGRESS: ["running", "tag"],
  COMPLETED: ["done", "tag"],
  FAILED: ["failed", "tag bad"],
};

export const isOpen = (job: BatchJob) => job.state.status === "QUEUED" || job.state.status === "IN_PROGRESS";

export function State({ job }: { job: BatchJob }) {
  const [word, look] = states[job.state.status];
  return <span class={look}>{word}</span>;
}

// whatOf names the sources of a job: the first, and how many more.
export function whatOf(request: BatchRequest): string {
  const all = [
    ...request.files.map((f) => f.filename ?? "a file"),
    ...(request.urls ?? []),
    ...(request.text ?? []).map((t) => `“${t.length > 60 ? t.slice(0, 59) + "…" : t}”`),
  ];
  return all.length > 1 ? `${all[0]} and ${all.length - 1} more` : (all[0] ?? "nothing");
}
