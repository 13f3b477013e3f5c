import { useState } from "preact/hooks";
import { type Paged, everything, get } from "../api";
import { useDoing, useLoad } from "../load";
import { Select } from "../parts/field";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { Time, when } from "../parts/time";
import { Difference } from "./difference";

// Version has the fields that versions of configs, prompts and tools share.
export interface Version {
  id: string;
  version: number;
  version_description?: string;
  modified_on: number;
}

// mayFollow asks before a save that would hide changes which somebody else saved after this page was opened.
export async function mayFollow(path: string, rows: string, opened: Version): Promise<boolean> {
  const [newest] = (await get<Paged & Record<string, unknown>>(`${path}/${encodeURIComponent(opened.id)}`))[
    rows
  ] as Version[];
  return (
    !newest ||
    newest.version === opened.version ||
    confirm(
      `Version ${newest.version} was saved ${when(new Date(newest.modified_on))}, after you opened ` +
        `version ${opened.version}. Save yours, without what is new in that one? It ` +
        `stays among the versions.`,
    )
  );
}

interface Props<T> {
  path: string; // of the record
  rows: string; // the field of the answer that holds its versions
  newest: number;
  text: (v: T) => string; // the text to compare
  restore: (v: T) => Promise<unknown>; // saves a new version with the content of v
}

// Versions compares two versions and restores an earlier one.
export function Versions<T extends Version>({ path, rows, newest, text, restore }: Props<T>) {
  const all = useLoad(
    async () => (await everything<T>(path, rows, { restrict_to_most_recent: false })).reverse(),
    [path, newest],
  );
  const [from, setFrom] = useState<string>();
  const [to, setTo] = useState<string>();
  const doing = useDoing();
  if (all.error) return <Failure error={all.error} again={all.reload} />;
  if (!all.value) return <Loading />;
  if (all.value.length < 2)
    return <p class="quiet">One version so far. Every save adds a version and keeps the earlier ones.</p>;
  const find = (version: string | undefined, otherwise: T) =>
    all.value!.find((v) => String(v.version) === version) ?? otherwise;
  const after = find(to, all.value[0]!),
    before = find(from, all.value.find((v) => v.version < after.version) ?? all.value[1]!);
  const options = all.value.map(
    (v) =>
      [String(v.version), `Version ${v.version}${v.version_description ? `: ${v.version_description}` : ""}`] as const,
  );
  return (
    <>
      <div class="row">
        <Select label="From" value={String(before.version)} set={setFrom} options={options} />
        <Select label="To" value={String(after.version)} set={setTo} options={options} />
      </div>
      <p class="faint">
        Version {after.version} was saved <Time ms={after.modified_on} />.
      </p>
      <Difference before={text(before)} after={text(after)} />
      <ErrorLine error={doing.error} />
      <div class="buttons">
        <button
          type="button"
          disabled={doing.busy || before.version === all.value[0]!.version}
          onClick={() => void doing.run(() => restore(before))}
        >
          Go back to version {before.version}
        </button>
        <span class="faint">This adds a new version and keeps all others.</span>
      </div>
    </>
  );
}
