import { useRef, useState } from "preact/hooks";
import type { ReturnBoxHealth, ReturnDiagnosis } from "../../rest";
import { get, post } from "../api";
import { useEvents } from "../events";
import { useDoing, useLoad } from "../load";
import type { PageProps } from "../page";
import { Chart } from "../parts/chart";
import { Figure, Figures, bytes, milliseconds, percent, span } from "../parts/figure";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { when } from "../parts/time";

// A Sample is what is drawn of one event of the stream.
interface Sample {
  at: number;
  cores: number | null;
  chats: number;
}

const kept = 300; // samples, ten minutes
const answersKept = 512; // as many as the box knows
const days = 86_400_000;

// Health is how the box does, as it goes.
export function Health(_: PageProps) {
  const first = useLoad((signal) => get<ReturnBoxHealth>("/v0/box/health", {}, signal), []);
  const [live, setLive] = useState<ReturnBoxHealth>();
  const samples = useRef<Sample[]>([]),
    answers = useRef(new Map<string, { at: number; ms: number }>());
  const last = useRef<ReturnBoxHealth | undefined>(undefined);
  const lost = useEvents<ReturnBoxHealth>("/v0/box/health/events", (h) => {
    const before = last.current;
    last.current = h;
    // What a pause or another start of the box lies in between says nothing.
    const near = before && h.started_on === before.started_on && h.now - before.now < 10_000 && h.now > before.now;
    const cores = near
      ? Math.max(0, (h.cores.process_seconds - before.cores.process_seconds) / ((h.now - before.now) / 1000))
      : null;
    samples.current = [...samples.current, { at: h.now / 1000, cores, chats: h.chats.live }].slice(-kept);
    for (const a of h.answers.recent) answers.current.set(`${a.on} ${a.took_ms}`, { at: a.on / 1000, ms: a.took_ms });
    if (answers.current.size > answersKept) answers.current = new Map([...answers.current].slice(-answersKept));
    setLive(h);
  });
  const h = live ?? first.value;
  return (
    <>
      <h1>Health</h1>
      {!h && first.error && <Failure error={first.error} again={first.reload} />}
      {!h && first.loading && <Loading />}
      {lost && (
        <ErrorLine
          error={
            new Error(
              `${lost.message} The figures are of ${last.current ? when(new Date(last.current.now)) : "before"}.`,
            )
          }
        />
      )}
      {h && (
        <>
          <p>
            {h.ready ? (
              <span class="tag">ready</span>
            ) : (
              <>
                <span class="tag bad">not ready</span> {h.missing.join("; ")}
              </>
            )}{" "}
            Parley {h.version}, up for {span(h.now - h.started_on)}.
          </p>
          <Now h={h} cores={samples.current.at(-1)?.cores ?? null} />
          <Charts samples={samples.current} answers={[...answers.current.values()].sort((a, b) => a.at - b.at)} h={h} />
          <section class="card">
            <h2>What does the work</h2>
            <dl class="told">
              <dt>Hears</dt>
              <dd>{h.serves.transcriber}</dd>
              <dt>Answers</dt>
              <dd>{h.serves.language_models.join(", ")}</dd>
              <dt>Speaks</dt>
              <dd>{h.serves.voice}</dd>
            </dl>
          </section>
        </>
      )}
      <Doctor />
    </>
  );
}

function Now({ h, cores }: { h: ReturnBoxHealth; cores: number | null }) {
  const a = h.answers,
    waiting = h.cores.waiting.reduce((n, w) => n + w.calls, 0);
  const own = h.speaker,
    trouble = own && (own.input.trouble || own.output.trouble);
  const ends = h.certificate && h.certificate.ends_on - h.now;
  return (
    <Figures>
      <Figure
        name="Answers, median"
        value={a.count ? milliseconds(a.median_ms) : "none yet"}
        more={a.count > 0 && `of ${a.count} in the last hour`}
      />
      <Figure
        name="Answers, 95 of 100 within"
        value={a.count ? milliseconds(a.p95_ms) : "none yet"}
        more={a.count > 0 && `${milliseconds(a.added_median_ms)} after the silence, median`}
      />
      <Figure
        name="Late answers"
        value={a.count ? percent(a.late_share) : "none yet"}
        more={`more than ${milliseconds(a.late_from_ms)} after the silence`}
        mood={a.late_share > 0.5 ? "bad" : a.late_share > 0.1 ? "warn" : undefined}
      />
      <Figure
        name="Live chats"
        value={`${h.chats.live} of ${h.chats.seats}`}
        more={h.chats.accounts > 1 && `of ${h.chats.accounts} accounts`}
        mood={h.chats.live >= h.chats.seats ? "bad" : undefined}
      />
      <Figure
        name="Cores that compute"
        value={cores === null ? "–" : `${cores.toFixed(1)} of ${h.cores.machine}`}
        more={`engines have ${h.cores.busy} of ${h.cores.engines}`}
      />
      <Figure
        name="Calls that wait for cores"
        value={String(waiting)}
        more={h.cores.waiting
          .filter((w) => w.calls > 0)
          .map((w) => `${w.calls} ${w.priority}`)
          .join(", ")}
      />
      <Figure
        name="Memory"
        value={bytes(h.memory.resident)}
        more={`${bytes(h.memory.available)} of ${bytes(h.memory.total)} are free`}
        mood={h.memory.available < h.memory.total / 20 ? "bad" : undefined}
      />
      <Figure
        name="Disk"
        value={`${bytes(h.disk.free)} free`}
        more={`of ${bytes(h.disk.total)}`}
        mood={h.disk.free < 256e6 ? "bad" : h.disk.free < 1e9 ? "warn" : undefined}
      />
      <Figure
        name="Webhooks that wait"
        value={String(h.webhooks.waiting)}
        more={<a href="#/webhooks">{h.webhooks.dead} given up</a>}
        mood={h.webhooks.dead > 0 ? "warn" : undefined}
      />
      <Figure name="Screens" value={String(h.kiosks)} more={<a href="#/kiosks">all of them</a>} />
      {own && (
        <Figure
          name="Its own loudspeaker"
          value={
            own.input.open && own.output.open
              ? own.state
              : own.output.open
                ? "does not hear"
                : own.input.open
                  ? "does not speak"
                  : "not there"
          }
          more={trouble || [own.input.name, own.output.name].filter(Boolean).join(" and ")}
          mood={own.input.open && own.output.open ? undefined : "bad"}
        />
      )}
      <Figure
        name="Certificate"
        value={ends === undefined ? "none" : ends < 0 ? "over" : `${Math.floor(ends / days)} days left`}
        more={
          h.certificate
            ? `${h.certificate.source}, ${h.certificate.renewed ? "renewed by the box" : "yours to renew"}`
            : "connections are not encrypted"
        }
        mood={ends !== undefined && ends < 14 * days ? (ends < 3 * days ? "bad" : "warn") : undefined}
      />
      <Figure
        name="Newest backup"
        value={h.backup ? when(new Date(h.backup.made_on)) : "none"}
        more={h.backup ? bytes(h.backup.bytes) : "parley backup FILE makes one"}
        mood={!h.backup || h.now - h.backup.made_on > 30 * days ? "warn" : undefined}
      />
    </Figures>
  );
}

function Charts({
  samples,
  answers,
  h,
}: {
  samples: Sample[];
  answers: { at: number; ms: number }[];
  h: ReturnBoxHealth;
}) {
  const times = samples.map((s) => s.at);
  return (
    <div class="columns">
      <section class="card">
        <h2>Answers of the last hour</h2>
        <p class="faint">From the end of a voice to the first sound of the answer.</p>
        {answers.length === 0 ? (
          <p>
            Nobody has talked to the box in the last hour. <a href="#/talk">Talk to it</a>
          </p>
        ) : (
          <Chart
            says={
              `Answers over time, in milliseconds: median ${Math.round(h.answers.median_ms)}, 95 of 100 ` +
              `within ${Math.round(h.answers.p95_ms)}.`
            }
            seconds={answers.map((a) => a.at)}
            lines={[{ name: "Answer", values: answers.map((a) => a.ms), points: true }]}
            unit="ms"
            back={3600}
          />
        )}
      </section>
      <section class="card">
        <h2>Since this page was opened</h2>
        <p class="faint">Cores that the box computes with, and chats that are live.</p>
        {times.length < 2 ? (
          <p>The first figures come in seconds.</p>
        ) : (
          <Chart
            says={
              `Cores and chats over time: now ${samples.at(-1)!.cores?.toFixed(1) ?? "an unknown number of"} ` +
              `cores and ${h.chats.live} chats.`
            }
            seconds={times}
            lines={[
              { name: "Cores", values: samples.map((s) => s.cores) },
              { name: "Chats", values: samples.map((s) => s.chats) },
            ]}
            unit=""
          />
        )}
      </section>
    </div>
  );
}

// Doctor looks for what is wrong, when somebody asks.
function Doctor() {
  const [found, setFound] = useState<ReturnDiagnosis>();
  const doing = useDoing();
  return (
    <section>
      <div class="head">
        <h2>Examination</h2>
        <button
          type="button"
          disabled={doing.busy}
          onClick={() => void doing.run(async () => setFound(await post<ReturnDiagnosis>("/v0/box/diagnosis")))}
        >
          {doing.busy ? "Examining …" : "Examine the box"}
        </button>
      </div>
      <p>
        Reads the database, the recordings and the packs whole, as <code>parley doctor</code> does. It changes nothing,
        and may take a minute.
      </p>
      <ErrorLine error={doing.error} />
      <p role="status">
        {found && (found.healthy ? "Nothing keeps the box from its work." : "Something is wrong with the box.")}
      </p>
      {found && (
        <Table
          caption="Findings"
          rows={found.findings}
          id={(f) => f.part + f.what}
          columns={[
            { head: "Part", cell: (f) => <span class="word">{f.part}</span> },
            {
              head: "Health",
              cell: (f) => (
                <span class={f.health === "ok" ? "tag" : f.health === "warning" ? "tag warn" : "tag bad"}>
                  {f.health}
                </span>
              ),
            },
            { head: "What was seen", cell: (f) => f.what },
            { head: "What to do", cell: (f) => f.mend },
          ]}
        />
      )}
    </section>
  );
}
