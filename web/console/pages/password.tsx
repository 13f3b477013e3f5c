import { useState } from "preact/hooks";
import type { ReturnPassword, ReturnSignIn } from "../../rest";
import { get, put } from "../api";
import { useDoing, useLoad } from "../load";
import { Field } from "../parts/field";
import { ErrorLine } from "../parts/notice";

// Password sets the password of the console.
export function Password({ changed }: { changed: () => void }) {
  const ways = useLoad((signal) => get<ReturnSignIn>("/v0/box/sign-in", {}, signal), []);
  const [current, setCurrent] = useState("");
  const [fresh, setFresh] = useState("");
  const [again, setAgain] = useState("");
  const [ended, setEnded] = useState<number>();
  const doing = useDoing();
  if (!ways.value) return null;
  const enter = () =>
    doing.run(async () => {
      setEnded(undefined);
      if (fresh !== again) throw new Error("The two new passwords differ.");
      setEnded((await put<ReturnPassword>("/v0/box/password", { password: fresh, current })).signed_out);
      setCurrent("");
      setFresh("");
      setAgain("");
      ways.reload();
      changed();
    });
  return (
    <form
      class="narrow"
      onSubmit={(e) => {
        e.preventDefault();
        void enter();
      }}
    >
      <h2>Password</h2>
      <p>
        {ways.value.password
          ? "A browser signs in with this password, or with a link of parley console. A new one signs all others out."
          : "Without a password, browsers sign in with links of parley console only."}
      </p>
      {ways.value.password && (
        <Field
          label="Present password"
          type="password"
          value={current}
          set={setCurrent}
          required
          autocomplete="current-password"
        />
      )}
      <Field
        label="New password"
        type="password"
        value={fresh}
        set={setFresh}
        required
        autocomplete="new-password"
        help="At least 10 characters."
      />
      <Field
        label="New password once more"
        type="password"
        value={again}
        set={setAgain}
        required
        autocomplete="new-password"
      />
      <ErrorLine error={doing.error} />
      <p role="status">{ended !== undefined && `The password is set. Other browsers signed out: ${ended}.`}</p>
      <button type="submit" disabled={doing.busy}>
        {ways.value.password ? "Change the password" : "Set a password"}
      </button>
    </form>
  );
}
