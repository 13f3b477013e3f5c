import { useEffect, useRef, useState } from "preact/hooks";
import type { PackPull, ReturnPacks, ReturnRestart, ReturnSetUpDone } from "../rest";
import { get, post } from "./api";
import { useEvents } from "./events";
import { useDoing } from "./load";
import { bytes } from "./parts/format";
import { ErrorLine } from "./parts/notice";

// Finish fetches the models, one pack after the other, and then restarts the box.
export function Finish({ done }: { done: ReturnSetUpDone }) {
  const [at, setAt] = useState(0); // the pack that is fetched
  const [pull, setPull] = useState<PackPull>();
  const [where, setWhere] = useState<ReturnRestart>();
  const doing = useDoing();
  const title = useRef<HTMLHeadingElement>(null);
  const pack = done.packs[at];
  const failed = pull?.state === "failed" || pull?.state === "cancelled";
  const go = () =>
    doing.run(async () => {
      if (!pack) return setWhere(await post<ReturnRestart>("/v0/box/restart"));
      setPull(undefined);
      try {
        setPull(await post<PackPull>(`/v0/box/packs/${encodeURIComponent(pack.name)}/pull`));
      } catch (err) {
        const { packs } = await get<ReturnPacks>("/v0/box/packs");
        if (packs.find((p) => p.name === pack.name)?.status !== "ready") throw err;
        setAt(at + 1); // somebody else fetched it
      }
    });
  useEffect(() => title.current?.focus(), []);
  useEffect(() => void go(), [at]);
  const lost = useEvents<PackPull>(
    pack && pull && pull.name === pack.name && pull.state === "going" ? `/v0/box/pack-pull/events#${at}` : undefined,
    (p) => {
      setPull(p);
      if (p.state === "done") setAt(at + 1);
    },
    () => {},
  );
  if (where) return <Restarting where={where} />;
  return (
    <section class="fetched" aria-live="polite">
      <h2 ref={title} tabIndex={-1}>
        {pack ? "Fetching the models" : "Restarting"}
      </h2>
      <p>The settings are written. {pack && "The box fetches its models now, which takes some minutes."}</p>
      {pack && (
        <ul>
          {done.packs.map((p, i) => (
            <li key={p.name}>
              <span>{p.name}</span>
              {i === at && pull && pull.total > 0 ? (
                <progress value={pull.done} max={pull.total} aria-label={`Fetching ${p.name}`} />
              ) : (
                <span class="faint">{i < at ? "ready" : i === at ? "begins" : bytes(p.bytes)}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      <ErrorLine error={doing.error ?? lost ?? (failed ? new Error(`${pack?.name}: ${pull?.error}`) : undefined)} />
      {(doing.error || failed) && (
        <>
          <p>
            Without a network: run <code>parley bundle FILE</code> on a machine that has one, and{" "}
            <code>sh FILE</code> on this one.
          </p>
          <button type="button" onClick={() => void go()}>
            Try again
          </button>
        </>
      )}
    </section>
  );
}

// stopMs is how long the old box may still answer: it ends its chats for up to four seconds.
const stopMs = 5000,
  probeMs = 1000;

// Restarting waits until the box listens at its new address, and goes there. A browser does not tell a page whether a
// port answers with a certificate that it does not trust yet, but the box answers plain HTTP on that port, too.
function Restarting({ where }: { where: ReturnRestart }) {
  const [up, setUp] = useState(false);
  useEffect(() => {
    let timer = 0;
    const probe = () =>
      fetch(where.probe, { mode: "no-cors", cache: "no-store" }).then(
        () => {
          setUp(true);
          location.href = where.url;
        },
        () => (timer = window.setTimeout(probe, probeMs)),
      );
    timer = window.setTimeout(probe, stopMs);
    return () => clearTimeout(timer);
  }, []);
  return (
    <section aria-live="polite">
      <h2>{up ? "The box is back" : "The box restarts"}</h2>
      <p>
        {up ? "This page goes there now." : "This page goes to its new address when it answers, in some seconds."} The
        link signs this browser in, once.
      </p>
      <p>
        <a class="where" href={where.url}>
          {where.url.replace(/\/#.*/, "")}
        </a>
      </p>
      {where.others.length > 0 && (
        <>
          <p>From other machines:</p>
          <ul>
            {where.others.map((url) => (
              <li key={url}>
                <code>{url.replace(/\/#.*/, "")}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {where.url.startsWith("https:") && (
        <p>
          {where.fingerprint
            ? "Your browser warns until it trusts the box's own authority: fetch /ca.crt of the box; its SHA-256 is"
            : "Your browser may warn about a certificate that it does not know yet."}
          {where.fingerprint && <code class="fingerprint">{where.fingerprint}</code>}
        </p>
      )}
    </section>
  );
}
