import { useMemo, useRef } from "preact/hooks";
import type { AnswerItem, ReturnConfig, ReturnSettings, ReturnVoice } from "../../rest";
import { everything, get } from "../api";
import { useDoing } from "../load";
import { usePlayer } from "../pages/player";
import { spoken } from "../pages/voice";
import { ErrorLine } from "../parts/notice";
import { Conflicts, useConflicts } from "./conflicts";
import { List } from "./list";
import type { Acts } from "./row";
import { type Row, type RowFaults, withSheet } from "./rows";
import { SheetButtons } from "./sheet";

// mostRows is how many answers the box takes.
const mostRows = 500;

// AnswerTable shows the answers of a config, and changes them.
export function AnswerTable({
  config,
  changed,
  rows,
  setRows,
  items,
  ids,
  faults,
  given,
  days,
  search,
  setSearch,
  add,
  show,
}: {
  config: ReturnConfig;
  changed: boolean;
  rows: Row[];
  setRows: (change: (rows: Row[]) => Row[]) => void;
  items: () => AnswerItem[];
  ids: Map<number, string>;
  faults: Map<number, RowFaults>;
  given?: Map<string, number>;
  days: string; // in which they were given
  search: string;
  setSearch: (text: string) => void;
  add: () => void;
  show: (id: string) => void;
}) {
  const listening = useDoing();
  const player = usePlayer();
  const conflicts = useConflicts(rows, items);
  const listen = (row: Row) => {
    const key = String(row.key);
    if (player.playing === key || player.waiting === key) return player.stop();
    void listening.run(() => player.play(key, (signal) => spokenBy(config, row.say, signal)));
  };
  // What the rows call stays the same, so that only the row that changed is drawn again.
  const newest = useRef(listen);
  newest.current = listen;
  const acts = useMemo<Acts>(
    () => ({
      change: (row) => setRows((all) => all.map((r) => (r.key === row.key ? row : r))),
      drop: (row) => setRows((all) => all.filter((r) => r.key !== row.key)),
      listen: (row) => newest.current(row),
    }),
    [],
  );
  const sounding = player.playing || player.waiting;
  return (
    <>
      <div class="buttons">
        <button type="button" class="primary" onClick={add} disabled={rows.length >= mostRows}>
          Add an answer
        </button>
        <SheetButtons
          config={config.id}
          changed={changed}
          items={items}
          apply={(sheet, keepOthers) => {
            setSearch("");
            setRows((all) => withSheet(all, sheet, keepOthers));
          }}
        />
      </div>
      <Conflicts found={conflicts} show={show} />
      <ErrorLine error={listening.error} />
      <List
        rows={rows}
        ids={ids}
        faults={faults}
        given={given}
        days={days}
        search={search}
        setSearch={setSearch}
        sound={sounding ? { key: Number(sounding), state: player.playing ? "playing" : "waiting" } : undefined}
        acts={acts}
      />
    </>
  );
}

// spokenBy synthesizes a text with the voice of a config, or else with the one that the box's settings name.
async function spokenBy(config: ReturnConfig, text: string, signal: AbortSignal): Promise<Blob> {
  if (config.voice) return spoken(text, config.voice, signal);
  const [{ settings }, voices] = await Promise.all([
    get<ReturnSettings>("/v0/box/settings", {}, signal),
    everything<ReturnVoice>("/v0/tts/voices", "voices_page", { provider: "HUME_AI" }),
  ]);
  const name = settings.find((s) => s.key === "engines.voice")?.value;
  const voice = voices.find((v) => v.id === name || v.id === `voice-${name}`);
  if (!voice) throw new Error("Choose a voice in the config first.");
  return spoken(text, voice, signal);
}
