import { useEffect, useState } from "preact/hooks";
import type { ReturnSetUp, ReturnSetUpCheck, ReturnSetUpDone, ReturnSetUpProfile } from "../rest";
import { get, post } from "./api";
import { useDoing, useLoad } from "./load";
import { Check, Field, Select } from "./parts/field";
import { bytes } from "./parts/format";
import { ErrorLine, Failure, Loading } from "./parts/notice";
import { Finish } from "./set_up_finish";

const local = "127.0.0.1:8080",
  network = "0.0.0.0:8443",
  other = "other";

// typingMs is how long a person pauses before the answers are checked.
const typingMs = 400;

// SetUp sets a new box up: five questions, the models, and a restart into the new settings.
export function SetUp({ operator }: { operator?: boolean }) {
  const facts = useLoad((signal) => get<ReturnSetUp>("/v0/box/setup", {}, signal), []);
  useEffect(() => {
    document.title = "Set up · Parley";
  }, []);
  return (
    <>
      <h1>Set this box up</h1>
      {facts.error && <Failure error={facts.error} again={facts.reload} />}
      {!facts.value && facts.loading && <Loading />}
      {facts.value && <Questions facts={facts.value} operator={operator ?? false} />}
    </>
  );
}

// splitTLS returns the mode of the setting tls, and the files of a certificate.
function splitTLS(tls: string): { mode: string; cert: string; key: string; server: string } {
  const [cert, key] = tls.split(",");
  if (key !== undefined) return { mode: "files", cert: cert!, key, server: "" };
  return tls.startsWith("https:")
    ? { mode: "acme", cert: "", key: "", server: tls }
    : { mode: tls, cert: "", key: "", server: "" };
}

function inWords(p: ReturnSetUpProfile): string {
  const note = p.recommended ? " (recommended)" : "";
  return `${p.name}: ${bytes(p.bytes)} to fetch, about ${bytes(p.memory)} of memory${note}`;
}

function Questions({ facts, operator }: { facts: ReturnSetUp; operator: boolean }) {
  const given = splitTLS(facts.tls);
  const [place, setPlace] = useState([local, network].includes(facts.listen) ? facts.listen : other);
  const [typed, setTyped] = useState(facts.listen);
  const best = facts.profiles.find((p) => p.recommended)?.name ?? facts.profile;
  const [profile, setProfile] = useState(facts.profile === "default" ? best : facts.profile);
  const [password, setPassword] = useState("");
  const [again, setAgain] = useState("");
  const [tls, setTLS] = useState(given.mode);
  const [cert, setCert] = useState(given.cert);
  const [key, setKey] = useState(given.key);
  const [names, setNames] = useState(facts.tls_names);
  const [kiosk, setKiosk] = useState(facts.kiosk);
  const [found, setFound] = useState<ReturnSetUpCheck>();
  const [done, setDone] = useState<ReturnSetUpDone>();
  const [late, setLate] = useState(false); // the person has tried to go on
  const doing = useDoing();
  const answers = {
    listen: place === other ? typed : place,
    profile,
    tls: tls === "files" ? `${cert},${key}` : tls === "acme" && given.server ? given.server : tls,
    tls_names: names,
    kiosk,
    password,
  };
  const asked = JSON.stringify(answers);
  useEffect(() => {
    const stop = new AbortController();
    const timer = setTimeout(() => {
      post<ReturnSetUpCheck>("/v0/box/setup/check", answers, stop.signal).then(setFound, () => {});
    }, typingMs);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [asked]);
  if (done) return <Finish done={done} />;

  const fixed = (field: string) => facts.fixed.find((f) => f.field === field)?.why;
  const wrong = (field: string) => (fixed(field) ? undefined : found?.problems.find((p) => p.field === field)?.why);
  const needsPassword = !operator && !facts.password;
  const passwordWrong = password || late ? wrong("password") : undefined;
  const differ = password !== again && (late || again.length >= password.length) ? "The two differ." : undefined;
  const chosen = facts.profiles.find((p) => p.name === profile);
  const enter = () =>
    doing.run(async () => {
      setLate(true);
      if (password !== again) throw new Error("The two passwords differ.");
      setDone(await post<ReturnSetUpDone>("/v0/box/setup", answers));
    });
  return (
    <form
      class="set-up"
      onSubmit={(e) => {
        e.preventDefault();
        void enter();
      }}
    >
      <p>
        Five questions, and the box is ready. The answers go to <code>{facts.file}</code>.
      </p>
      <fieldset>
        <legend>1. Where does the box listen?</legend>
        <Select
          label="Listen"
          value={place}
          set={setPlace}
          disabled={fixed("listen") !== undefined}
          help={fixed("listen")}
          error={place === other ? undefined : wrong("listen")}
          options={[
            [local, `On this machine only (${local})`],
            [network, `On the network, encrypted (${network})`],
            [other, "At another address"],
          ]}
        />
        {place === other && (
          <Field
            label="Address"
            value={typed}
            set={setTyped}
            required
            disabled={fixed("listen") !== undefined}
            help={`HOST:PORT. This machine has ${facts.addresses.join(", ") || "no address on a network"}.`}
            error={wrong("listen")}
          />
        )}
      </fieldset>
      <fieldset>
        <legend>2. Which models?</legend>
        <Select
          label="Models"
          value={profile}
          set={setProfile}
          disabled={fixed("profile") !== undefined}
          help={fixed("profile") ?? `This machine has ${bytes(facts.memory)} of memory.`}
          error={chosen && !chosen.fits ? "These models need more memory than there is." : wrong("profile")}
          options={facts.profiles.map((p) => [p.name, inWords(p)])}
        />
      </fieldset>
      <fieldset>
        <legend>3. A password for this console</legend>
        {facts.password ? (
          <p class="help">There is one. The page Sessions changes it.</p>
        ) : (
          <>
            <Field
              label="Password"
              type="password"
              value={password}
              set={setPassword}
              required={needsPassword}
              autocomplete="new-password"
              help={`At least ${facts.min_password} characters.`}
              error={passwordWrong}
            />
            <Field
              label="Once more"
              type="password"
              value={again}
              set={setAgain}
              required={needsPassword}
              autocomplete="new-password"
              error={differ}
            />
          </>
        )}
      </fieldset>
      <fieldset>
        <legend>4. How are connections encrypted?</legend>
        <Select
          label="Encryption"
          value={tls}
          set={setTLS}
          disabled={fixed("tls") !== undefined}
          help={fixed("tls") ?? "As the address needs it: not on this machine alone, elsewhere as own."}
          error={tls === "files" ? undefined : wrong("tls")}
          options={[
            ["auto", "As the address needs it"],
            ["own", "With a certificate that the box makes (own)"],
            ["acme", "With one from Let's Encrypt, for a name"],
            ["files", "With a certificate of yours"],
            ["off", "Not at all"],
          ]}
        />
        {tls === "files" && (
          <>
            <Field
              label="Certificate"
              value={cert}
              set={setCert}
              required
              help="The path of a PEM file on the box."
              error={wrong("tls")}
            />
            <Field label="Key" value={key} set={setKey} required help="The path of its key." />
          </>
        )}
        {(tls === "acme" || tls === "own" || names) && (
          <Field
            label="Names of the box"
            value={names}
            set={setNames}
            required={tls === "acme"}
            disabled={fixed("tls_names") !== undefined}
            help={fixed("tls_names") ?? "Such as box.example, with commas between several."}
            error={wrong("tls_names")}
          />
        )}
      </fieldset>
      <fieldset>
        <legend>5. Does the box talk by itself?</legend>
        <Check
          label="With people in front of it, over its own loudspeaker and microphone"
          value={kiosk}
          set={setKiosk}
          disabled={fixed("kiosk") !== undefined}
          help={fixed("kiosk")}
          error={wrong("kiosk")}
        />
      </fieldset>
      {found?.warning && <p class="notice">{found.warning}</p>}
      <ErrorLine error={doing.error ?? (wrong("") ? new Error(wrong("")) : undefined)} />
      <button type="submit" class="primary" disabled={doing.busy}>
        {doing.busy ? "Setting up …" : "Set the box up"}
      </button>
    </form>
  );
}
