// Remembers the files of the jobs that this tab has started, so that a result can be shown beside its medium although
// the box does not store it. The files stay on the user's disk; the tab holds handles only.
import type { BatchJob, SourceResult } from "../../rest";

const sent = new Map<string, File[]>();

export function remember(job: string, files: File[]): void {
  sent.set(job, files);
}

// localFile returns the file that a result was made from, if this tab has sent it. Files of an archive are not found.
export function localFile(job: string, result: SourceResult, file: string): File | undefined {
  if (result.source.type !== "file") return undefined;
  return sent.get(job)?.find((f) => f.name === result.source.filename && f.name === file);
}

// sourceText returns the text that a result was made from, if the request had it. Texts are named text, or text_0,
// text_1 and so on.
export function sourceText(job: BatchJob, result: SourceResult, file: string): string | undefined {
  if (result.source.type !== "text") return undefined;
  return job.request.text?.[Number(/^text_(\d+)$/.exec(file)?.[1] ?? 0)];
}
