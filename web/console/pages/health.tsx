import { useRef, useState } from "preact/hooks";
import type { ReturnBoxHealth, ReturnDiagnosis } from "../../rest";
import { get, post } from "../api";
import { useEvents } from "../events";
import { useDoing, useLoad } from "../load";
import type { PageProps } from "../page";
import { Chart } from "../parts/chart";
import { Figure, Figures } from "../parts/figures";
import { bytes, milliseconds, percent, span } from "../parts/format";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { when } from "../parts/time";

// A Sample is one point of the charts, taken from one event of the stream.
interface Sample {
  at: number;
  cores: number | null;
  chats: number;
}

const maxSamples = 300; // ten minutes at one event every two seconds
const maxAnswers = 512; // as many as the box reports
const days = 86_400_000;

// Health shows the state of the box and updates it live.
export function Health(_: PageProps) {
  const first = useLoad((signal) => get<ReturnBoxHealth>("/v0/box/health", {}, signal), []);
  const [live, setLive] = useState<ReturnBoxHealth>();
  const samples = useRef<Sample[]>([]),
    answers = useRef(new Map<string, { at: number; ms: number }>());
  const last = useRef<ReturnBoxHealth | undefined>(undefined);
  const lost = useEvents<ReturnBoxHealth>("/v0/box/health/events", (h) => {
    const before = last.current;
    last.current = h;
    // Across a pause or a restart of the box, the difference of CPU seconds means nothing.
    const near = before && h.started_on === before.started_on && h.now - before.now < 10_000 && h.now > before.now;
    const cores = near
      ? Math.max(0, (h.cores.process_seconds - before.cores.process_seconds) / ((h.now - before.now) / 1000))
      : null;
    samples.current = [...samples.current, { at: h.now / 1000, cores, chats: h.chats.live }].slice(-maxSamples);
    for (const a of h.answers.recent) answers.current.set(`${a.on} ${a.took_ms}`, { at: a.on / 1000, ms: a.took_ms });
    if (answers.current.size > maxAnswers) answers.current = new Map([...answers.current].slice(-maxAnswers));
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
              `${lost.message} The figures are from ${last.current ? when(new Date(last.current.now)) : "before"}.`,
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
            <h2>Engines</h2>
            <dl class="told">
              <dt>Speech to text</dt>
              <dd>{h.serves.transcriber}</dd>
              <dt>Language models</dt>
              <dd>{h.serves.language_models.join(", ")}</dd>
              <dt>Voice</dt>
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
  const speaker = h.speaker,
    trouble = speaker && (speaker.input.trouble || speaker.output.trouble);
  const ends = h.certificate && h.certificate.ends_on - h.now;
  return (
    <Figures>
      <Figure
        name="Answer time, median"
        value={a.count ? milliseconds(a.median_ms) : "none yet"}
        more={a.count > 0 && `of ${a.count} in the last hour`}
      />
      <Figure
        name="Answer time, 95th percentile"
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
        name="CPU cores in use"
        value={cores === null ? "–" : `${cores.toFixed(1)} of ${h.cores.machine}`}
        more={`engines use ${h.cores.busy} of ${h.cores.engines}`}
      />
      <Figure
        name="Queued calls"
        value={String(waiting)}
        more={h.cores.waiting
          .filter((w) => w.calls > 0)
          .map((w) => `${w.calls} ${w.priority}`)
          .join(", ")}
      />
      <Figure
        name="Memory"
        value={bytes(h.memory.resident)}
        more={`${bytes(h.memory.available)} of ${bytes(h.memory.total)} free`}
        mood={h.memory.available < h.memory.total / 20 ? "bad" : undefined}
      />
      <Figure
        name="Disk"
        value={`${bytes(h.disk.free)} free`}
        more={`of ${bytes(h.disk.total)}`}
        mood={h.disk.free < 256e6 ? "bad" : h.disk.free < 1e9 ? "warn" : undefined}
      />
      <Figure
        name="Pending webhooks"
        value={String(h.webhooks.waiting)}
        more={<a href="#/webhooks">{h.webhooks.dead} failed</a>}
        mood={h.webhooks.dead > 0 ? "warn" : undefined}
      />
      <Figure name="Screens" value={String(h.kiosks)} more={<a href="#/kiosks">all screens</a>} />
      {speaker && (
        <Figure
          name="Built-in speaker"
          value={
            speaker.input.open && speaker.output.open
              ? speaker.state
              : speaker.output.open
                ? "no microphone"
                : speaker.input.open
                  ? "no loudspeaker"
                  : "no devices"
          }
          more={trouble || [speaker.input.name, speaker.output.name].filter(Boolean).join(" and ")}
          mood={speaker.input.open && speaker.output.open ? undefined : "bad"}
        />
      )}
      <Figure
        name="Certificate"
        value={ends === undefined ? "none" : ends < 0 ? "expired" : `${Math.floor(ends / days)} days left`}
        more={
          h.certificate
            ? `${h.certificate.source}, ${h.certificate.renewed ? "renewed automatically" : "renew it yourself"}`
            : "connections are not encrypted"
        }
        mood={ends !== undefined && ends < 14 * days ? (ends < 3 * days ? "bad" : "warn") : undefined}
      />
      <Figure
        name="Newest backup"
        value={h.backup ? when(new Date(h.backup.made_on)) : "none"}
        more={h.backup ? bytes(h.backup.bytes) : "make one: parley backup FILE"}
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
        <h2>Answer time, last hour</h2>
        <p class="faint">From the end of the caller's speech to the first sound of the answer.</p>
        {answers.length === 0 ? (
          <p>
            Nobody has talked to the box in the last hour. <a href="#/talk">Talk to it</a>
          </p>
        ) : (
          <Chart
            says={
              `Answer time in milliseconds: median ${Math.round(h.answers.median_ms)}, ` +
              `95th percentile ${Math.round(h.answers.p95_ms)}.`
            }
            seconds={answers.map((a) => a.at)}
            lines={[{ name: "Answer", values: answers.map((a) => a.ms), points: true }]}
            unit="ms"
            back={3600}
          />
        )}
      </section>
      <section class="card">
        <h2>Load since this page was opened</h2>
        <p class="faint">CPU cores in use, and live chats.</p>
        {times.length < 2 ? (
          <p>The first figures appear in a few seconds.</p>
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

// Doctor runs the checks of parley doctor when its button is pressed.
function Doctor() {
  const [found, setFound] = useState<ReturnDiagnosis>();
  const doing = useDoing();
  return (
    <section>
      <div class="head">
        <h2>Checks</h2>
        <button
          type="button"
          disabled={doing.busy}
          onClick={() => void doing.run(async () => setFound(await post<ReturnDiagnosis>("/v0/box/diagnosis")))}
        >
          {doing.busy ? "Checking …" : "Check the box"}
        </button>
      </div>
      <p>
        Runs the checks of <code>parley doctor</code>: database, recordings, packs and more. They change nothing and may
        take a minute.
      </p>
      <ErrorLine error={doing.error} />
      <p role="status">{found && (found.healthy ? "The box is healthy." : "The box has problems.")}</p>
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
            { head: "Finding", cell: (f) => f.what },
            { head: "Remedy", cell: (f) => f.mend },
          ]}
        />
      )}
    </section>
  );
}
