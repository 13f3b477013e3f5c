import { useState } from "preact/hooks";
import type { ReturnSession } from "../../rest";
import { get, remove } from "../api";
import { useLoad } from "../load";
import type { PageProps } from "../page";
import { Confirm } from "../parts/dialog";
import { Failure, Loading } from "../parts/notice";
import { Table } from "../parts/table";
import { Time } from "../parts/time";

// Sessions are the browsers that are signed in.
export function Sessions(_: PageProps) {
  const sessions = useLoad((signal) => get<ReturnSession[]>("/v0/box/sessions", {}, signal), []);
  const [ending, setEnding] = useState<ReturnSession>();
  return (
    <>
      <h1>Sessions</h1>
      <p>
        The browsers that are signed in to this console. One that nobody uses for 12 hours is signed out, every one
        after 30 days. <code>parley console</code> signs in another.
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
      {ending && (
        <Confirm
          title="End this session?"
          verb="End it"
          close={() => setEnding(undefined)}
          does={async () => {
            await remove(`/v0/box/sessions/${ending.id}`);
            sessions.reload();
          }}
        >
          <p>
            {ending.current ? "You are signed out here." : `${browser(ending.browser)} is signed out at once.`} Its
            conversations end.
          </p>
        </Confirm>
      )}
    </>
  );
}

// Of what browsers say of themselves: the newer ones call themselves by the names of
// the older ones too, so the first that is found counts.
const browsers = [
  ["Edg/", "Edge"],
  ["OPR/", "Opera"],
  ["Firefox/", "Firefox"],
  ["Chrome/", "Chrome"],
  ["Safari/", "Safari"],
] as const;
const systems = ["Android", "iPhone", "iPad", "Windows", "Mac OS X", "CrOS", "Linux"];

// browser is what a browser says of itself, short: its name and its system.
export function browser(agent: string): string {
  const name = browsers.find(([mark]) => agent.includes(mark))?.[1];
  const system = systems.find((s) => agent.includes(s));
  if (!name) return agent || "A program";
  return system ? `${name} on ${system}` : name;
}
