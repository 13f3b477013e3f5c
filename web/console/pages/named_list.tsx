import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { everything } from "../api";
import { useLoad, usePages } from "../load";
import { Field } from "../parts/field";
import { Empty, Failure, Loading } from "../parts/notice";
import { type Column, Pager, Table } from "../parts/table";
import { Time } from "../parts/time";
import { to } from "../route";
import type { Version } from "./versions";

// mostSearched is how many of the newest records a search reads, in twenty requests. It lists at most mostShown
// results.
const mostSearched = 2000,
  mostShown = 50;

export interface Named extends Version {
  name: string;
}

// NamedList lists the configs, the prompts or the tools, with links to a page of each.
export function NamedList<T extends Named>({
  title,
  page,
  path,
  rows,
  one,
  about,
  made = true,
  columns = [],
  nothing,
}: {
  title: string;
  page: string;
  path: string;
  rows: string;
  one: string;
  about: string;
  made?: boolean; // a new one is made on this page
  columns?: Column<T>[];
  nothing: ComponentChildren;
}) {
  const list = usePages<T>(path, rows);
  const [search, setSearch] = useState("");
  const wanted = search.trim().toLowerCase(),
    searched = wanted !== "";
  const all = useLoad(async () => (searched ? everything<T>(path, rows, {}, mostSearched) : []), [path, searched]);
  const found = searched ? all.value?.filter((r) => r.name.toLowerCase().includes(wanted)) : list.value;
  const error = searched ? all.error : list.error;
  return (
    <>
      <div class="head">
        <h1>{title}</h1>
        {made && (
          <a class="button primary" href={to(page, "new")}>
            New {one}
          </a>
        )}
      </div>
      <p>{about}</p>
      {(list.pages > 1 || searched) && (
        <Field label="Name" type="search" value={search} set={setSearch} maxLength={75} />
      )}
      {error && <Failure error={error} again={searched ? all.reload : list.reload} />}
      {!error && (!found || (searched && all.loading)) && <Loading />}
      {!searched && list.value?.length === 0 && list.page === 0 && <Empty title={`No ${one} yet`}>{nothing}</Empty>}
      {searched && !all.loading && found?.length === 0 && (
        <Empty title={`No ${one} found`}>
          <p>Search for a part of the name.</p>
        </Empty>
      )}
      {found && found.length > 0 && (
        <Table
          caption={title}
          rows={found.slice(0, mostShown)}
          id={(r) => r.id}
          columns={[
            { head: "Name", cell: (r) => <a href={to(page, r.id)}>{r.name}</a> },
            ...columns,
            { head: "Version", number: true, cell: (r) => r.version },
            { head: "Changed", cell: (r) => <Time ms={r.modified_on} /> },
          ]}
        />
      )}
      {found && found.length > mostShown && (
        <p class="faint">{found.length - mostShown} more are called that: type more of the name.</p>
      )}
      {!searched && <Pager list={list} />}
    </>
  );
}
