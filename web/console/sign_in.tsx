import { useEffect, useState } from "preact/hooks";
import { post } from "./api";
import { useDoing } from "./load";
import { Field } from "./parts/field";
import { ErrorLine } from "./parts/notice";

// linkOf is what signs in, of an address or of what somebody typed: what stands
// behind #signin=.
export function linkOf(text: string): string {
  return /#signin=([0-9A-Za-z]+)/.exec(text)?.[1] ?? "";
}

// SignIn trades a link for a session. The link leaves the address first, so that it
// is in no history and on no screenshot.
export function SignIn({ link, done }: { link: string; done: () => void }) {
  const [typed, setTyped] = useState("");
  const doing = useDoing();
  const enter = (token: string) =>
    doing.run(async () => {
      await post("/v0/box/sessions", { link: token });
      done();
    });
  useEffect(() => {
    document.title = "Sign in · Parley";
    if (!link) return;
    history.replaceState(null, "", location.pathname + "#/");
    void enter(link);
  }, [link]);
  return (
    <main class="alone">
      <h1>Sign in</h1>
      <p>On the box, run</p>
      <pre>
        <code>parley console</code>
      </pre>
      <p>and open the address that it prints, or type it here. It is good once, for ten minutes.</p>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void enter(linkOf(typed) || typed.trim());
        }}
      >
        <Field label="Link" value={typed} set={setTyped} required autocomplete="off" />
        <ErrorLine error={doing.error} />
        <button type="submit" class="primary" disabled={doing.busy}>
          {doing.busy ? "Signing in …" : "Sign in"}
        </button>
      </form>
    </main>
  );
}
