import { useState } from "preact/hooks";
import type { PackPull, ReturnPack, ReturnPacks } from "../../rest";
import { get, post, remove } from "../api";
import { useEvents } from "../events";
import { useDoing, useLoad } from "../load";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Field } from "../parts/field";
import { bytes } from "../parts/format";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";

const kinds: Record<string, string> = {
  "language-model": "language model",
  voice: "voice",
  transcriber: "speech to text",
  turn: "end of turn",
  runtime: "model runtime",
  phonemes: "pronunciation",
};

// Packs lists the models and libraries that the box has or can download.
export function Packs(_: PageProps) {
  const packs = useLoad((signal) => get<ReturnPacks>("/v0/box/packs", {}, signal), []);
  const [search, setSearch] = useState("");
  const [begun, setBegun] = useState(0),
    [pull, setPull] = useState<PackPull>();
  const [removing, setRemoving] = useState<ReturnPack>();
  const doing = useDoing();
  const newest = pull ?? packs.value?.pull;
  const running = newest?.state === "going";
  // The page follows a running download. The part after # is not sent; it only opens a new stream for each download.
  const lost = useEvents<PackPull>(
    running || begun > 0 ? `/v0/box/pack-pull/events#${begun}` : undefined,
    setPull,
    () => packs.reload(),
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
          The models and libraries in <code>{packs.value.folder}</code>, with {bytes(packs.value.free)} free. The
          settings choose which of them the box uses.
        </p>
      )}
      {packs.value?.read_only && <p class="notice">{packs.value.read_only}</p>}
      {newest && <Pull pull={newest} doing={doing} />}
      <ErrorLine error={doing.error ?? lost} />
      {packs.error && <Failure error={packs.error} again={packs.reload} />}
      {!packs.value && packs.loading && <Loading />}
      {packs.value && (
        <Field label="Search" type="search" value={search} set={setSearch} placeholder="Name or description" />
      )}
      {shown?.length === 0 && (
        <Empty title="No pack found">
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
                      <span class="tag plain">custom</span>
                    </>
                  )}
                </>
              ),
            },
            {
              head: "Description",
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
                  busy={doing.busy || running}
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
          verb="Remove"
          close={() => setRemoving(undefined)}
          does={async () => {
            await remove(`/v0/box/packs/${encodeURIComponent(removing.name)}`);
            packs.reload();
          }}
        >
          <p>
            {removing.own
              ? "It is a custom pack and cannot be downloaded again."
              : `This frees ${bytes(removing.bytes)}. You can download it again.`}{" "}
            {removing.kind === "voice" && "Configs that use this voice can no longer speak with it."}
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
  if (p.status === "ready") return <>installed{use}</>;
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
  if (p.system) return <span class="faint">part of the operating system</span>;
  if (fixed) return null;
  return (
    <span class="acts">
      {p.status !== "ready" && !p.own && (
        <button type="button" disabled={busy} onClick={pull}>
          Download<span class="unseen"> {p.name}</span>
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

// Pull shows the progress or the result of the newest download.
function Pull({ pull, doing }: { pull: PackPull; doing: ReturnType<typeof useDoing> }) {
  const fraction = pull.total > 0 ? pull.done / pull.total : 0;
  return (
    <section class="card" aria-label="Download">
      {pull.state === "going" && (
        <>
          <p>
            Downloading <code>{pull.name}</code>: {pull.step}
            {pull.total > 0 && (
              <>
                , {bytes(pull.done)} of {bytes(pull.total)}
              </>
            )}
            .
          </p>
          <progress value={fraction} max={1} aria-label={`Download of ${pull.name}`} />
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
          <>{pull.name} is installed. Settings that name it take effect at the next start of the box.</>
        )}
        {pull.state === "cancelled" && <>The download of {pull.name} was cancelled; no files are left.</>}
        {pull.state === "failed" && (
          <span class="error">
            The download of {pull.name} failed; no files are left: {pull.error}
          </span>
        )}
      </p>
    </section>
  );
}
