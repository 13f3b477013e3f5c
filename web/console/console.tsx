// The console: sign-in, menu, and the page that the address names.
import { render } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { ReturnOperator } from "../rest";
import { Refused, get, onSignedOut } from "./api";
import { Shell } from "./shell";
import { SignIn, linkOf } from "./sign_in";
import { Failure } from "./parts/notice";

function Console() {
  const [who, setWho] = useState<ReturnOperator | null>();
  const [link, setLink] = useState(() => linkOf(location.hash));
  const [error, setError] = useState<Error>();
  const look = () => {
    setError(undefined);
    get<ReturnOperator>("/v0/box/operator").then(setWho, (err) => {
      if (err instanceof Refused && (err.status === 401 || err.status === 403)) setWho(null);
      else setError(err);
    });
  };
  useEffect(() => {
    onSignedOut(() => setWho(null));
    const changed = () => { // another link may be opened in the same tab
      const next = linkOf(location.hash);
      if (next) setLink(next);
    };
    addEventListener("hashchange", changed);
    if (!link) look();
    return () => removeEventListener("hashchange", changed);
  }, []);
  if (link) return <SignIn link={link} done={() => { setLink(""); look(); }} />;
  if (error) return <main class="alone"><h1>Parley</h1><Failure error={error} again={look} /></main>;
  if (who === undefined) return <main class="alone" aria-busy="true"><h1 class="quiet">Parley</h1></main>;
  if (who === null) return <SignIn link="" done={look} />;
  return <Shell who={who} changed={setWho} />;
}

render(<Console />, document.getElementById("app")!);
