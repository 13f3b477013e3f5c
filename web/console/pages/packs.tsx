import { useState } from "preact/hooks";
import type { PackPull, ReturnPack, ReturnPacks } from "../../rest";
import { get, post, remove } from "../api";
import { useEvents } from "../events";
import { useDoing, useLoad } from "../load";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Field } from "../parts/field";
import { bytes } from "../parts/figure";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";

const kinds: Record<string, string> = {
  "language-model": "answers",
  voice: "speaks",
  transcriber: "hears",
  turn: "hears whose turn it is",
  runtime: "runs models",
  phonemes: "reads words",
};

// Packs are the models and libraries that the box runs on, or could.
export function Packs(_: PageProps) {
  const packs = useLoad((signal) => get<ReturnPacks>("/v0/box/packs", {}, signal), []);
  const [search, setSearch] = useState("");
  const [begun, setBegun] = useState(0),
    [pull, setPull] = useState<PackPull>();
  const [removing, setRemoving] = useState<ReturnPack>();
  const doing = useDoing();
  const newest = pull ?? packs.value?.pull;
  const going = newest?.state === "going";
  // A pull is watched from its beginning, or from when the page is opened on. What
  // stands behind # is not sent: it makes each pull a stream of its own.
  const lost = useEvents<PackPull>(going || begun > 0 ? `/v0/box/pack-pull/events#${begun}` : undefined, setPull, () =>
    packs.reload(),
  );
  const start = (name: string) =>
    doing.run(async () => {
      setPull(await post<PackPull>(`/v0/box/packs/${encodeURIComponent(name)}/pull`));
      setBegun(begun + 1);
    });
  const wanted = search.trim().toLowerCase();
  const shown = packs.value?.packs.filter((p) =>
    [p.name, p.does, p.kind].some((t) => t.toLowerCase().includes(wanted)),
  );
  return (
    <>
      <h1>Packs</h1>
      {packs.value && (
        <p>
          The models and libraries of the box, in <code>{packs.value.folder}</code>; {bytes(packs.value.free)} are free
          there. Which of them it runs on, its settings say.
        </p>
      )}
      {packs.value?.read_only && <p class="notice">{packs.value.read_only}</p>}
      {newest && <Pull pull={newest} doing={doing} />}
      <ErrorLine error={doing.error ?? lost} />
      {packs.error && <Failure error={packs.error} again={packs.reload} />}
      {!packs.value && packs.loading && <Loading />}
      {packs.value && (
        <Field label="Search" type="search" value={search} set={setSearch} placeholder="Name, or what it does" />
      )}
      {shown?.length === 0 && (
        <Empty title="No pack is like that">
          <p>Search for another name.</p>
        </Empty>
      )}
      {shown && shown.length > 0 && (
        <Table
          caption="Packs"
          rows={shown}
          id={(p) => p.name}
          columns={[
            {
              head: "Name",
              cell: (p) => (
                <>
                  <code>{p.name}</code>
                  {p.own && (
                    <>
                      {" "}
                      <span class="tag plain">your own</span>
                    </>
                  )}
                </>
              ),
            },
            {
              head: "What it is",
              cell: (p) => (
                <>
                  {p.does}
                  <br />
                  <span class="faint">
                    {kinds[p.kind] ?? p.kind} · {p.licence}
                  </span>
                </>
              ),
            },
            { head: "Size", number: true, cell: (p) => bytes(p.bytes) },
            { head: "State", cell: (p) => <State p={p} /> },
            {
              head: "",
              cell: (p) => (
                <Acts
                  p={p}
                  busy={doing.busy || going}
                  fixed={Boolean(packs.value?.read_only)}
                  pull={() => void start(p.name)}
                  remove={() => setRemoving(p)}
                />
              ),
            },
          ]}
        />
      )}
      {removing && (
        <Confirm
          title={`Remove ${removing.name}?`}
          verb="Remove it"
          close={() => setRemoving(undefined)}
          does={async () => {
            await remove(`/v0/box/packs/${encodeURIComponent(removing.name)}`);
            packs.reload();
          }}
        >
          <p>
            {removing.own
              ? "It is your own: nobody can fetch it again."
              : `That frees ${bytes(removing.bytes)}. It can be fetched again.`}{" "}
            {removing.kind === "voice" && "Configs that name this voice cannot speak with it any more."}
          </p>
        </Confirm>
      )}
    </>
  );
}

function State({ p }: { p: ReturnPack }) {
  const use = p.in_use && (
    <>
      {" "}
      <span class="tag">in use</span>
    </>
  );
  if (p.status === "ready") return <>here{use}</>;
  return (
    <>
      <span class={p.in_use || p.status === "damaged" ? "tag bad" : "tag plain"}>{p.status}</span>
      {use}
      {p.why && p.status === "damaged" && (
        <>
          <br />
          <span class="faint">{p.why}</span>
        </>
      )}
    </>
  );
}

function Acts({
  p,
  busy,
  fixed,
  pull,
  remove,
}: {
  p: ReturnPack;
  busy: boolean;
  fixed: boolean;
  pull: () => void;
  remove: () => void;
}) {
  if (p.system) return <span class="faint">of the operating system</span>;
  if (fixed) return null;
  return (
    <span class="acts">
      {p.status !== "ready" && !p.own && (
        <button type="button" disabled={busy} onClick={pull}>
          Fetch<span class="unseen"> {p.name}</span>
        </button>
      )}
      {p.status !== "missing" && !p.in_use && (
        <button type="button" class="danger" disabled={busy} onClick={remove}>
          Remove<span class="unseen"> {p.name}</span>
        </button>
      )}
    </span>
  );
}

// Pull is the newest one: how far it is, or how it ended.
function Pull({ pull, doing }: { pull: PackPull; doing: ReturnType<typeof useDoing> }) {
  const share = pull.total > 0 ? pull.done / pull.total : 0;
  return (
    <section class="card" aria-label="Fetching">
      {pull.state === "going" && (
        <>
          <p>
            Fetching <code>{pull.name}</code>: {pull.step}
            {pull.total > 0 && (
              <>
                , {bytes(pull.done)} of {bytes(pull.total)}
              </>
            )}
            .
          </p>
          <progress value={share} max={1} aria-label={`How far ${pull.name} is`} />
          <div class="buttons">
            <button
              type="button"
              disabled={doing.busy}
              onClick={() => void doing.run(() => remove("/v0/box/pack-pull"))}
            >
              Cancel
            </button>
          </div>
        </>
      )}
      <p role="status">
        {pull.state === "done" && (
          <>{pull.name} is here. Settings that name it hold from the next start of the box on.</>
        )}
        {pull.state === "cancelled" && <>The fetching of {pull.name} was cancelled; nothing of it stays.</>}
        {pull.state === "failed" && (
          <span class="error">
            {pull.name} could not be fetched, and nothing of it stays: {pull.error}
          </span>
        )}
      </p>
    </section>
  );
}
