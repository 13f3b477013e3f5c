import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { FoundChat, ReturnConfig, ReturnFleetBoxes, ReturnFoundChats } from "../../rest";
import { everything, get, withQuery } from "../api";
import { useDoing, useLoad } from "../load";
import type { PageProps } from "../page";
import { Field, Select } from "../parts/field";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Clock } from "../parts/time";
import { go, to } from "../route";
import { Chat } from "./chat";
import { statuses } from "./chat_status";
import { Highlighted } from "./highlighted";
import { byPhone } from "./phone_words";
import { clock } from "./transcript";

// Chats searches the chats, or shows the one that the address names.
export function Chats({ route, who }: PageProps) {
  const [id] = route.rest;
  const query = route.query.toString();
  const asked = useMemo(() => searchOf(query), [query]);
  const left = useRef<Left>({}).current;
  if (!id) return <Search asked={asked} left={left} hub={who.hub} />;
  left.chat = id;
  return <Chat key={id} id={id} words={wordsOf(asked)} back={addressOf(asked)} />;
}

// Left remembers the list while one of its chats is shown, for the way back.
interface Left {
  chat?: string;
  older?: Older;
}

// Older holds the chats that "Show older" added to a search; end is where its first page ended.
interface Older {
  of: Wanted;
  end: string;
  chats: FoundChat[];
  next?: string;
}

// The search is part of the address of the list and of its chats, so that Back and the link to all chats return to the
// results.
const nothing = { search: "", config: "", status: "", session: "", from: "", until: "", box: "" };
type Wanted = typeof nothing;

function searchOf(query: string): Wanted {
  const given = new URLSearchParams(query);
  return Object.fromEntries(Object.keys(nothing).map((name) => [name, given.get(name) ?? ""])) as Wanted;
}

const addressOf = (wanted: Wanted, ...id: string[]) => withQuery(to("chats", ...id), wanted);
const wordsOf = (wanted: Wanted) => wanted.search.trim().split(/\s+/).filter(Boolean);

// dayMS returns when a calendar day begins in local time, as Unix milliseconds, plus next days.
function dayMS(date: string, next = 0): number | undefined {
  if (!date) return undefined;
  const [y, m, d] = date.split("-").map(Number);
  return new Date(y!, m! - 1, d! + next).getTime();
}

// Search is the search form with its results.
function Search({ asked, left, hub }: { asked: Wanted; left: Left; hub?: boolean }) {
  const [wanted, setWanted] = useState(asked); // in the form
  useEffect(() => setWanted(asked), [asked]);
  const boxes = useLoad(async () => (hub ? (await get<ReturnFleetBoxes>("/v0/box/fleet/boxes")).boxes : []), []);
  const configs = useLoad(() => everything<ReturnConfig>("/v0/evi/configs", "configs_page"), []);
  const find = (before?: string, signal?: AbortSignal) =>
    get<ReturnFoundChats>(
      "/v0/box/chats",
      {
        search: asked.search,
        config_id: asked.config,
        status: asked.status,
        custom_session_id: asked.session,
        box: asked.box,
        from: dayMS(asked.from),
        until: dayMS(asked.until, 1),
        before,
        limit: 25,
      },
      signal,
    );
  const found = useLoad((signal) => find(undefined, signal), [asked]);
  const [more, setMore] = useState(left.older);
  left.older = more;
  const doing = useDoing();
  // else they are of another search, or new ones have come
  const older = more?.end === found.value?.next && more && addressOf(more.of) === addressOf(asked) ? more : undefined;
  const next = older ? older.next : found.value?.next;
  // not those of the search before
  const chats = found.loading ? [] : [...(found.value?.chats ?? []), ...(older?.chats ?? [])];
  const goOn = () =>
    doing.run(async () => {
      const end = found.value!.next!;
      const answer = await find(next);
      setMore({ of: asked, end, chats: [...(older?.chats ?? []), ...answer.chats], next: answer.next });
    });
  useEffect(() => {
    if (!found.value || !left.chat) return;
    document.querySelector<HTMLAnchorElement>(`main a[href="${CSS.escape(addressOf(asked, left.chat))}"]`)?.focus();
    left.chat = undefined;
  }, [found.value]);
  const set = (change: Partial<Wanted>) => setWanted({ ...wanted, ...change });
  const search = () => (addressOf(wanted) === addressOf(asked) ? found.reload() : go(addressOf(wanted)));
  const words = wordsOf(asked);
  const nameOf = (c: FoundChat) =>
    c.config ? (configs.value?.find((one) => one.id === c.config!.id)?.name ?? "deleted config") : "default";
  const filtered = Object.values(asked).some(Boolean);
  return (
    <>
      <h1>Chats</h1>
      <p>All conversations, newest first.</p>
      <form
        class="card"
        role="search"
        onSubmit={(e) => {
          e.preventDefault();
          search();
        }}
      >
        <div class="row">
          <Field
            label="Spoken words"
            type="search"
            value={wanted.search}
            set={(search) => set({ search })}
            maxLength={200}
          />
          <Select
            label="Config"
            value={wanted.config}
            set={(config) => set({ config })}
            options={[["", "Any"], ...(configs.value ?? []).map((c) => [c.id, c.name] as const)]}
          />
          <Select
            label="Status"
            value={wanted.status}
            set={(status) => set({ status })}
            options={[["", "Any"], ...Object.entries(statuses).map(([s, [said]]) => [s, said] as const)]}
          />
          {hub && (
            <Select
              label="Box"
              value={wanted.box}
              set={(box) => set({ box })}
              options={[["", "Any"], ...(boxes.value ?? []).map((b) => [b.name, b.name] as const)]}
            />
          )}
        </div>
        <div class="row">
          <Field label="From" type="date" value={wanted.from} set={(from) => set({ from })} />
          <Field label="To" type="date" value={wanted.until} set={(until) => set({ until })} />
          <Field label="Custom session id" value={wanted.session} set={(session) => set({ session })} maxLength={512} />
          <button type="submit" class="primary">
            Search
          </button>
          {filtered && (
            <button type="button" onClick={() => go(to("chats"))}>
              Show all
            </button>
          )}
        </div>
      </form>
      {found.error && <Failure error={found.error} again={found.reload} />}
      {found.loading && <Loading />}
      {found.value &&
        !found.loading &&
        chats.length === 0 &&
        !next &&
        (filtered ? (
          <Empty title="No chat found">
            <p>Search for fewer words, or for more days.</p>
          </Empty>
        ) : (
          <Empty title="No chats yet">
            <p>
              <a href={to("talk")}>Talk to the box</a>, and the chat appears here.
            </p>
          </Empty>
        ))}
      {chats.length > 0 && (
        <Table
          caption="Chats"
          rows={chats}
          id={(c) => c.id}
          columns={[
            {
              head: "When",
              cell: (c) => (
                <a href={addressOf(asked, c.id)}>
                  <Clock ms={c.start_timestamp} />
                </a>
              ),
            },
            {
              head: "Transcript",
              cell: (c) =>
                c.excerpt ? <Highlighted text={c.excerpt.text} words={words} /> : <span class="quiet">nothing</span>,
            },
            {
              head: "Config",
              cell: (c) => (
                <span>
                  {nameOf(c)}
                  {byPhone(c.metadata) && (
                    <>
                      <br />
                      <span class="tag plain">phone</span> <span class="faint">{byPhone(c.metadata)}</span>
                    </>
                  )}
                  {c.custom_session_id && (
                    <>
                      <br />
                      <span class="faint">{c.custom_session_id}</span>
                    </>
                  )}
                </span>
              ),
            },
            {
              head: "Length",
              number: true,
              cell: (c) => (c.end_timestamp ? clock(c.end_timestamp - c.start_timestamp) : "–"),
            },
            ...(hub ? [{ head: "Box", cell: (c: FoundChat) => c.box }] : []),
            { head: "Status", cell: (c) => <span class={statuses[c.status][1]}>{statuses[c.status][0]}</span> },
          ]}
        />
      )}
      <ErrorLine error={doing.error} />
      {next && !found.loading && (
        <div class="buttons">
          <button type="button" disabled={doing.busy} onClick={() => void goOn()}>
            {chats.length > 0 ? "Show older" : "Nothing found yet: search further back"}
          </button>
        </div>
      )}
    </>
  );
}
