import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { ReturnChatAudioReconstruction, ReturnChatEvent, ReturnChatPagedEvents } from "../../rest";
import { get, remove } from "../api";
import { useDoing, useLoad } from "../load";
import { Confirm } from "../parts/dialog";
import { Check, Select } from "../parts/field";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { save } from "../parts/save";
import { go, to } from "../route";
import { statuses } from "./chat_status";
import { Highlighted } from "./highlighted";
import { byPhone } from "./phone_words";
import { pretty } from "./tool_schema";
import { type Line, asText, clock, current, transcript } from "./transcript";

// mostPages is how many pages of a chat are shown, of a hundred events each. A chat of half an hour has a few; many
// more would make the browser slow.
const mostPages = 50;

async function events(id: string, mostPages = Infinity, signal?: AbortSignal): Promise<ReturnChatPagedEvents> {
  const path = `/v0/evi/chats/${encodeURIComponent(id)}`;
  const first = await get<ReturnChatPagedEvents>(path, { page_size: 100 }, signal);
  const all: ReturnChatEvent[] = [...first.events_page];
  for (let n = 1; n < Math.min(first.total_pages, mostPages); n++)
    all.push(...(await get<ReturnChatPagedEvents>(path, { page_size: 100, page_number: n }, signal)).events_page);
  return { ...first, events_page: all };
}

const linesOf = (c: ReturnChatPagedEvents) => transcript(c.events_page, c.start_timestamp);

// Chat shows the transcript and the recording of one chat.
export function Chat({ id, words, back }: { id: string; words: string[]; back: string }) {
  const chat = useLoad((signal) => events(id, mostPages, signal), [id]);
  const sound = useLoad(
    (signal) => get<ReturnChatAudioReconstruction>(`/v0/evi/chats/${encodeURIComponent(id)}/audio`, {}, signal),
    [id],
  );
  const [deleting, setDeleting] = useState(false);
  const saving = useDoing();
  const lines = useMemo(() => (chat.value ? linesOf(chat.value) : []), [chat.value]);
  if (chat.error)
    return (
      <>
        <p>
          <a href={back}>All chats</a>
        </p>
        <h1>Chat</h1>
        <Failure error={chat.error} again={chat.reload} />
      </>
    );
  if (!chat.value)
    return (
      <>
        <h1>Chat</h1>
        <Loading />
      </>
    );
  const c = chat.value,
    cut = c.total_pages > mostPages;
  const saves = (kind: string, type: string, text: (all: ReturnChatPagedEvents) => string) =>
    saving.run(async () => save(`chat-${c.id}.${kind}`, type, text(cut ? await events(id) : c)));
  return (
    <>
      <p>
        <a href={back}>All chats</a>
      </p>
      <div class="head">
        <h1>{new Date(c.start_timestamp).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}</h1>
        <span class={statuses[c.status][1]}>{statuses[c.status][0]}</span>
      </div>
      <p class="faint">
        {c.end_timestamp ? `${clock(c.end_timestamp - c.start_timestamp)} long` : "Still live"}
        {c.config && (
          <>
            , with <a href={to("configs", c.config.id)}>the config</a> as of version {c.config.version}
          </>
        )}
        {byPhone(c.metadata) && `, by phone ${byPhone(c.metadata)}`}. Chat <code>{c.id}</code>
      </p>
      {c.metadata && (
        <details>
          <summary>{byPhone(c.metadata) ? "Metadata" : "Metadata from the client"}</summary>
          <pre class="wrapped">{pretty(c.metadata)}</pre>
        </details>
      )}
      <Playback
        lines={lines}
        words={words}
        config={c.config?.id}
        sound={sound.value}
        reload={sound.reload}
        error={sound.error}
      />
      {cut && (
        <p class="quiet">This chat is too long for one page. The page omits its end; a saved file has all of it.</p>
      )}
      <ErrorLine error={saving.error} />
      <div class="buttons">
        <button
          type="button"
          disabled={saving.busy}
          onClick={() => void saves("txt", "text/plain", (all) => asText(linesOf(all)))}
        >
          Save as text
        </button>
        <button
          type="button"
          disabled={saving.busy}
          onClick={() => void saves("json", "application/json", (all) => JSON.stringify(all, null, 2))}
        >
          Save as JSON
        </button>
        {sound.value?.signed_audio_url && (
          <a class="button" href={here(sound.value.signed_audio_url)} download={sound.value.filename}>
            Save recording
          </a>
        )}
        <button
          type="button"
          onClick={() => {
            chat.reload();
            sound.reload();
          }}
        >
          Reload
        </button>
        <button type="button" class="danger" disabled={c.status === "ACTIVE"} onClick={() => setDeleting(true)}>
          Delete
        </button>
      </div>
      {deleting && (
        <Confirm
          title="Delete this chat?"
          verb="Delete"
          close={() => setDeleting(false)}
          does={async () => {
            await remove(`/v0/evi/chat_groups/${c.chat_group_id}`);
            go(back);
          }}
        >
          <p>This deletes the transcript, the recording and the chats that resumed this one. It cannot be undone.</p>
        </Confirm>
      )}
    </>
  );
}

// here rewrites a link from the box to this page's origin, because the box may use another of its addresses.
const here = (url: string) => new URL(url).pathname + new URL(url).search;

const speeds = ["0.75", "1", "1.25", "1.5", "2"];

const silent: Partial<Record<ReturnChatAudioReconstruction["status"], string>> = {
  QUEUED: "Nothing has been recorded yet.",
  IN_PROGRESS: "The recording is available when the chat is over.",
  CANCELLED: "There is no recording, or it was deleted.",
};

// Playback shows the player, and the transcript that follows it.
function Playback({
  lines,
  words,
  config,
  sound,
  error,
  reload,
}: {
  lines: Line[];
  words: string[];
  config?: string;
  sound?: ReturnChatAudioReconstruction;
  error?: Error;
  reload: () => void;
}) {
  const audio = useRef<HTMLAudioElement>(null);
  const list = useRef<HTMLOListElement>(null);
  const [now, setNow] = useState<Line>();
  const [follow, setFollow] = useState(true);
  const [speed, setSpeed] = useState("1");
  const doing = useDoing();
  useEffect(() => {
    if (audio.current) audio.current.playbackRate = Number(speed);
  }, [speed, sound]);
  useEffect(() => {
    const at = now && list.current?.querySelector<HTMLElement>(`[data-line="${CSS.escape(now.id)}"]`);
    if (at && follow && !audio.current?.paused)
      list.current!.scrollTo({
        top: at.offsetTop - list.current!.clientHeight / 3,
        behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
      });
  }, [now]);
  const from = (line: Line) =>
    doing.run(async () => {
      const a = audio.current!;
      a.currentTime = line.at / 1000;
      setNow(line);
      await a.play();
    });
  const url = sound?.signed_audio_url;
  return (
    <section class="heard" aria-label="Conversation">
      {error && <Failure error={error} again={reload} />}
      {sound && silent[sound.status] && <p class="quiet">{silent[sound.status]}</p>}
      {sound?.status === "ERROR" && (
        <p class="quiet">Part of the recording is missing: the disk was too slow, or the file is damaged.</p>
      )}
      {url && (
        <div class="player card">
          <audio
            ref={audio}
            controls
            preload="metadata"
            src={here(url)}
            aria-label="Recording"
            onTimeUpdate={(e) => setNow(current(lines, e.currentTarget.currentTime * 1000))}
          />
          <Select label="Speed" value={speed} set={setSpeed} options={speeds.map((s) => [s, `${s} ×`] as const)} />
          <Check label="Follow" value={follow} set={setFollow} />
        </div>
      )}
      <ErrorLine error={doing.error} />
      {lines.length === 0 && <p class="quiet">Nothing was said.</p>}
      <ol ref={list} class="transcript" tabIndex={0} aria-label="Transcript">
        {lines.map((l) => (
          <Said
            key={l.id}
            line={l}
            words={words}
            current={l.id === now?.id}
            config={config}
            play={url && l.heard ? () => void from(l) : undefined}
          />
        ))}
      </ol>
    </section>
  );
}

const names = { user: "User", agent: "Assistant", tool: "Tool", note: "" };

function Said({
  line,
  words,
  current,
  config,
  play,
}: {
  line: Line;
  words: string[];
  current: boolean;
  config?: string;
  play?: () => void;
}) {
  return (
    <li data-line={line.id} data-who={line.kind} aria-current={current ? "true" : undefined}>
      {play ? (
        <button type="button" class="link at" onClick={play} aria-label={`Play from ${clock(line.at)}`}>
          {clock(line.at)}
        </button>
      ) : (
        <span class="at faint">{clock(line.at)}</span>
      )}
      <div>
        {names[line.kind] && (
          <p class="name">
            {names[line.kind]}
            {line.typed && <span class="faint"> typed</span>}
            {line.quick && <span class="faint"> to fill the time</span>}
            {line.interrupted && <span class="faint"> interrupted</span>}
            {line.answer && config && (
              <>
                {" "}
                <a href={`${to("answers", config)}?item=${encodeURIComponent(line.answer)}`}>{line.answer}</a>
              </>
            )}
          </p>
        )}
        {line.kind === "tool" ? (
          <details open={line.failed}>
            <summary>
              {line.name}
              {line.failed ? " failed" : line.detail === undefined ? ", without an answer" : ""}
            </summary>
            <pre class="wrapped">{pretty(line.text)}</pre>
            {line.detail !== undefined && <pre class="wrapped">{pretty(line.detail)}</pre>}
          </details>
        ) : (
          <p class={line.kind === "note" ? "faint" : undefined}>
            <Highlighted text={line.text} words={words} />
          </p>
        )}
        {line.feelings.length > 0 && (
          <ul class="feelings" aria-label="Feelings">
            {line.feelings.map((f) => (
              <li key={f.name} class="tag plain">
                {f.name} {Math.round(f.score * 100)} %
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}
