import { useState } from "preact/hooks";
import type { ReturnSession } from "../../rest";
import { get, remove } from "../api";
import { useLoad } from "../load";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Time } from "../parts/time";
import { Password } from "./password";

// Sessions lists the browsers that are signed in.
export function Sessions(_: PageProps) {
  const sessions = useLoad((signal) => get<ReturnSession[]>("/v0/box/sessions", {}, signal), []);
  const [ending, setEnding] = useState<ReturnSession>();
  return (
    <>
      <h1>Sessions</h1>
      <p>
        Browsers that are signed in to this console. A browser is signed out after 12 hours without use, and after 30
        days in any case. <code>parley console</code> prints a link that signs in another one.
      </p>
      {sessions.error && <Failure error={sessions.error} again={sessions.reload} />}
      {!sessions.value && sessions.loading && <Loading />}
      {sessions.value && (
        <Table
          caption="Sessions"
          rows={sessions.value}
          id={(s) => s.id}
          columns={[
            {
              head: "Browser",
              cell: (s) => (
                <>
                  {browser(s.browser)} {s.current && <span class="tag">this one</span>}
                </>
              ),
            },
            { head: "From", cell: (s) => s.address || "–" },
            { head: "Account", cell: (s) => s.account },
            { head: "Signed in", cell: (s) => <Time ms={s.created_on} /> },
            { head: "Last used", cell: (s) => <Time ms={s.used_on} /> },
            {
              head: "",
              cell: (s) => (
                <button type="button" onClick={() => setEnding(s)}>
                  End<span class="unseen"> the session of {browser(s.browser)}</span>
                </button>
              ),
            },
          ]}
        />
      )}
      <Password changed={sessions.reload} />
      {ending && (
        <Confirm
          title="End this session?"
          verb="End"
          close={() => setEnding(undefined)}
          does={async () => {
            await remove(`/v0/box/sessions/${ending.id}`);
            sessions.reload();
          }}
        >
          <p>
            {ending.current ? "This browser" : browser(ending.browser)} is signed out at once, and its conversations
            end.
          </p>
        </Confirm>
      )}
    </>
  );
}

// browsers maps marks in the User-Agent header to names. Newer browsers also carry the marks of older ones, so the
// first match counts.
const browsers = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const systems = ["Android", "iPhone", "iPad", "Windows", "Mac OS X", "CrOS", "Linux"];

// browser shortens a User-Agent header to the browser's name and its system.
export function browser(agent: string): string {
  const name = browsers.find(([mark]) => agent.includes(mark))?.[1];
  const system = systems.find((s) => agent.includes(s));
  if (!name) return agent || "A program";
  return system ? `${name} on ${system}` : name;
}
