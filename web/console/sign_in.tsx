import { useEffect, useState } from "preact/hooks";
import { post } from "./api";
import { useDoing } from "./load";
import { Field } from "./parts/field";
import { ErrorLine } from "./parts/notice";

// linkOf extracts the sign-in code, the part after #signin=, from an address or from typed text.
export function linkOf(text: string): string {
  return /#signin=([0-9A-Za-z]+)/.exec(text)?.[1] ?? "";
}

// SignIn exchanges a sign-in link, or the password, for a session. It first removes the link from the address, so that
// the link stays out of the browser's history and of screenshots.
export function SignIn({ link, password, done }: { link: string; password: boolean; done: () => void }) {
  const [typed, setTyped] = useState("");
  const [secret, setSecret] = useState("");
  const doing = useDoing();
  const enter = (by: { link: string } | { password: string }) =>
    doing.run(async () => {
      await post("/v0/box/sessions", by);
      done();
    });
  useEffect(() => {
    document.title = "Sign in · Parley";
    if (!link) return;
    history.replaceState(null, "", location.pathname + "#/");
    void enter({ link });
  }, [link]);
  const words = doing.busy ? "Signing in …" : "Sign in";
  return (
    <main class="alone">
      <h1>Sign in</h1>
      {password && (
        <form
          onSubmit={(e) => {
            e.preventDefault();
            void enter({ password: secret });
          }}
        >
          <Field
            label="Password"
            type="password"
            value={secret}
            set={setSecret}
            required
            autocomplete="current-password"
          />
          <ErrorLine error={doing.error} />
          <button type="submit" class="primary" disabled={doing.busy}>
            {words}
          </button>
        </form>
      )}
      {password && <h2>Or with a link</h2>}
      <p>On the box, run</p>
      <pre>
        <code>parley console</code>
      </pre>
      <p>and open the address that it prints, or type it here. It is good once, for ten minutes.</p>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void enter({ link: linkOf(typed) || typed.trim() });
        }}
      >
        <Field label="Link" value={typed} set={setTyped} required autocomplete="off" />
        {!password && <ErrorLine error={doing.error} />}
        <button type="submit" class={password ? undefined : "primary"} disabled={doing.busy}>
          {password ? "Sign in with the link" : words}
        </button>
      </form>
    </main>
  );
}
