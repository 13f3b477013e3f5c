import { useMemo, useState } from "preact/hooks";
import type {
  PostedRollout,
  ReturnFleet,
  ReturnFleetBox,
  ReturnFleetBoxes,
  ReturnRollout,
  ReturnSetting,
  ReturnSettings,
} from "../../rest";
import { everything, get, post } from "../api";
import { useDoing, useLoad } from "../load";
import { faultsOf, unplaced, useShown } from "../pages/faults";
import { Check, Field, Select } from "../parts/field";
import { ErrorLine, Failure, Loading } from "../parts/notice";
import { go, to } from "../route";
import { Canaries, type First, firstOf } from "./canaries";
import { kindWords } from "./words";

type Kind = PostedRollout["item"]["kind"];

// A Thing is something that can be rolled out: its value in the field, and its name.
type Thing = readonly [value: string, name: string];

// lists are the API's lists of the things that have versions.
const versioned: Partial<Record<Kind, [path: string, rows: string]>> = {
  config: ["/v0/evi/configs", "configs_page"],
  prompt: ["/v0/evi/prompts", "prompts_page"],
  tool: ["/v0/evi/tools", "tools_page"],
};

const kinds: Kind[] = ["config", "plugin", "setting", "voice", "lexicon", "prompt", "tool"];

async function thingsOf(kind: Kind, signal: AbortSignal): Promise<Thing[]> {
  const named = (list: { id: string; name: string }[]) => list.map((r): Thing => [r.id, r.name]);
  const list = versioned[kind];
  if (list) return named(await everything<{ id: string; name: string }>(...list));
  if (kind === "voice") return named(await everything("/v0/tts/voices", "voices_page", { provider: "CUSTOM_VOICE" }));
  if (kind === "plugin")
    return (await get<{ name: string; version: string }[]>("/v0/box/plugins", {}, signal)).map((p): Thing => [
      p.name,
      `${p.name} ${p.version}`,
    ]);
  return [];
}

interface Known {
  fleet: ReturnFleet;
  boxes: ReturnFleetBox[];
  settings: ReturnSetting[];
}

async function known(signal: AbortSignal): Promise<Known> {
  const [fleet, boxes, settings] = await Promise.all([
    get<ReturnFleet>("/v0/box/fleet", {}, signal),
    get<ReturnFleetBoxes>("/v0/box/fleet/boxes", {}, signal),
    get<ReturnSettings>("/v0/box/settings", {}, signal),
  ]);
  return { fleet, boxes: boxes.boxes, settings: settings.settings.filter((s) => s.remote) };
}

// NewRollout begins a roll-out. The address may have what and to where.
export function NewRollout({ account, given }: { account: string; given: URLSearchParams }) {
  const all = useLoad(known, []);
  return (
    <>
      <p>
        <a href={to("rollouts")}>All roll-outs</a>
      </p>
      <h1>Begin a roll-out</h1>
      {all.error && <Failure error={all.error} again={all.reload} />}
      {!all.value && all.loading && <Loading />}
      {all.value && <Form known={all.value} account={account} given={given} />}
    </>
  );
}

function Form({ known, account, given }: { known: Known; account: string; given: URLSearchParams }) {
  const [kind, setKind] = useState((given.get("kind") ?? "config") as Kind),
    [what, setWhat] = useState(given.get("id") ?? ""),
    [version, setVersion] = useState(""),
    [value, setValue] = useState(""),
    [removes, setRemoves] = useState(false),
    [target, setTarget] = useState(given.get("target") ?? "all"),
    [first, setFirst] = useState<First>({ how: "number", number: "1", names: [], soak: "10" });
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  useShown(doing.error);
  const things = useLoad((signal) => thingsOf(kind, signal), [kind]);
  const settings = useMemo(() => known.settings.map((s): Thing => [s.key, s.key]), [known]);
  const offered = kind === "setting" ? settings : (things.value ?? []);
  const chosen = offered.some(([v]) => v === what) ? what : "";
  const oneBox = target.startsWith("box:"); // there is no box before it
  const begin = () =>
    doing.run(async () => {
      const id = kind === "plugin" || kind === "setting" ? { name: chosen } : kind === "lexicon" ? {} : { id: chosen };
      const r = await post<ReturnRollout>("/v0/box/fleet/rollouts", {
        item: { kind, ...id },
        version: version && versioned[kind] && !removes ? Number(version) : undefined,
        value: kind === "setting" && !removes ? value : undefined,
        remove: removes || undefined,
        target,
        ...(oneBox ? {} : firstOf(first)),
      });
      go(to("rollouts", String(r.id)));
    });
  const shown = (p: string) => /^(item|version|value|target|canary|soak)/.test(p);
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        void begin();
      }}
    >
      <section class="card">
        <h2>What</h2>
        <div class="row">
          <Select
            label="Kind"
            value={kind}
            set={(k) => {
              setKind(k as Kind);
              setWhat("");
              setVersion("");
              setValue("");
            }}
            options={kinds.map((k) => [k, kindWords(k)] as const)}
          />
          {kind !== "lexicon" && (
            <Select
              label={kindWords(kind)}
              value={chosen}
              set={(w) => {
                setWhat(w);
                setVersion("");
                setValue("");
              }}
              options={[["", things.loading && kind !== "setting" ? "Loading …" : "Choose one"], ...offered]}
              error={faults["item.id"] ?? faults["item.name"] ?? faults["item"]}
            />
          )}
        </div>
        {things.error && <Failure error={things.error} again={things.reload} />}
        <About kind={kind} account={account} none={!things.loading && offered.length === 0} />
        {versioned[kind] && chosen && !removes && (
          <VersionField kind={kind} id={chosen} value={version} set={setVersion} error={faults["version"]} />
        )}
        {kind === "setting" && chosen && !removes && (
          <Value
            setting={known.settings.find((s) => s.key === chosen)!}
            value={value}
            set={setValue}
            error={faults["value"]}
          />
        )}
        <Check label="Take it off the boxes instead" value={removes} set={setRemoves} />
      </section>
      <section class="card">
        <h2>Where</h2>
        <Select
          label="To"
          value={target}
          set={setTarget}
          options={[
            ["all", `All ${known.boxes.length} boxes`],
            ...known.fleet.groups.map((g) => [`group:${g}`, `Group ${g}`] as const),
            ...known.boxes.map((b) => [`box:${b.name}`, `Box ${b.name}`] as const),
          ]}
          error={faults["target"]}
        />
        {!oneBox && (
          <Canaries
            first={first}
            set={setFirst}
            boxes={known.boxes
              .filter((b) => target === "all" || b.groups.includes(target.slice("group:".length)))
              .map((b) => b.name)}
            faults={faults}
          />
        )}
      </section>
      <ErrorLine error={unplaced(doing.error, shown)} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={doing.busy || (kind !== "lexicon" && !chosen)}>
          Begin
        </button>
      </div>
    </form>
  );
}

function About({ kind, account, none }: { kind: Kind; account: string; none: boolean }) {
  if (kind === "lexicon")
    return (
      <p class="faint">All pronunciations of the account {account}, as they are now, replace those of the boxes.</p>
    );
  if (none) return <p class="quiet">This hub has none.</p>;
  if (kind === "config")
    return <p class="faint">With its prompt, its tools and its saved voice. Of account {account}.</p>;
  if (kind === "plugin") return <p class="faint">With its permissions and settings as they are on this hub.</p>;
  if (kind === "setting") return <p class="faint">A box restarts for it when nobody is talking to it.</p>;
  return <p class="faint">Of account {account}.</p>;
}

function VersionField({
  kind,
  id,
  value,
  set,
  error,
}: {
  kind: Kind;
  id: string;
  value: string;
  set: (v: string) => void;
  error?: string;
}) {
  const [path, rows] = versioned[kind]!;
  const all = useLoad(
    async () =>
      (
        await everything<{ version: number; version_description?: string }>(`${path}/${encodeURIComponent(id)}`, rows, {
          restrict_to_most_recent: false,
        })
      ).reverse(),
    [path, id],
  );
  const words = (v: { version: number; version_description?: string }) =>
    `Version ${v.version}${v.version_description ? `: ${v.version_description}` : ""}`;
  return (
    <Select
      label="Version"
      value={value}
      set={set}
      options={[["", "The newest"], ...(all.value ?? []).map((v) => [String(v.version), words(v)] as const)]}
      error={error ?? all.error?.message}
    />
  );
}

// plain returns a text of the API's documentation without its marks for code.
const plain = (text: string) => text.replaceAll("`", "");

// choicesOf returns the values of a setting that allows only these: `off`, `own` or `acme`.
function choicesOf(allowed: string): string[] {
  if (/^true or false/.test(plain(allowed))) return ["true", "false"];
  return /^`[^`]+`(?:(?:, or |, | or )`[^`]+`)+$/.test(allowed) ? plain(allowed).split(/, or |, | or /) : [];
}

function Value({
  setting,
  value,
  set,
  error,
}: {
  setting: ReturnSetting;
  value: string;
  set: (value: string) => void;
  error?: string;
}) {
  const choices = choicesOf(setting.allowed),
    help = `${setting.help} Allowed: ${plain(setting.allowed)}. Default: ${setting.default || setting.otherwise}`;
  if (choices.length > 0)
    return (
      <Select
        label="Value"
        value={value}
        set={set}
        help={help}
        error={error}
        options={[["", "Choose one"], ...choices.map((c) => [c, c] as const)]}
      />
    );
  return <Field label="Value" value={value} set={set} help={help} error={error} />;
}
