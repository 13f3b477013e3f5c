// The console: sign-in, menu, and the page that the address names.
import { render } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { ReturnOperator, ReturnSignIn } from "../rest";
import { Refused, get, onSignedOut } from "./api";
import "./shared";
import { Shell } from "./shell";
import { unsaved } from "./route";
import { SetUp } from "./set_up";
import { SignIn, linkOf } from "./sign_in";
import { Failure } from "./parts/notice";

function Console() {
  const [who, setWho] = useState<ReturnOperator | null>();
  const [link, setLink] = useState(() => linkOf(location.hash));
  const [error, setError] = useState<Error>();
  const [ways, setWays] = useState<ReturnSignIn>();
  // How to sign in is asked only when nobody is signed in.
  useEffect(() => {
    if (who === null || link) get<ReturnSignIn>("/v0/box/sign-in").then(setWays, setError);
  }, [who, link]);
  const look = () => {
    setError(undefined);
    get<ReturnOperator>("/v0/box/operator").then(setWho, (err) => {
      if (err instanceof Refused && (err.status === 401 || err.status === 403)) setWho(null);
      else setError(err);
    });
  };
  // The user whose page stays mounted but hidden during a new sign-in, so that unsaved text survives.
  const [held, setHeld] = useState<ReturnOperator>();
  const signedIn = useRef<ReturnOperator>(undefined);
  signedIn.current = who ?? signedIn.current;
  useEffect(() => {
    onSignedOut(() => {
      setHeld(unsaved() ? signedIn.current : undefined);
      setWho(null);
    });
    const seen = () => {
      if (signedIn.current && !document.hidden) look();
    }; // signed in again in another tab, or signed out
    document.addEventListener("visibilitychange", seen);
    const changed = () => {
      // another link may be opened in the same tab
      const next = linkOf(location.hash);
      if (next) setLink(next);
    };
    addEventListener("hashchange", changed);
    if (!link) look();
    return () => {
      removeEventListener("hashchange", changed);
      document.removeEventListener("visibilitychange", seen);
    };
  }, []);
  if (error && !held)
    return (
      <main class="alone">
        <h1>Parley</h1>
        <Failure error={error} again={look} />
      </main>
    );
  if (who === null && ways?.set_up && !link && !held)
    return (
      <main class="alone">
        <SetUp />
      </main>
    );
  if ((who === undefined && !link) || (who === null && !ways && !held))
    return (
      <main class="alone" aria-busy="true">
        <h1 class="quiet">Parley</h1>
      </main>
    );
  const asks = !who || link !== "",
    shown = who ?? held;
  return (
    <>
      {asks && (
        <SignIn
          link={link}
          password={ways?.password ?? false}
          done={() => {
            setLink("");
            look();
          }}
        />
      )}
      {shown && (
        <div class="frame" hidden={asks}>
          <Shell
            who={shown}
            changed={(now) => {
              setHeld(undefined);
              setWho(now);
            }}
          />
        </div>
      )}
    </>
  );
}

render(<Console />, document.getElementById("app")!);
