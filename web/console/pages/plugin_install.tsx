import { useRef, useState } from "preact/hooks";
import type { PluginOffer, ReturnPlugin } from "../../rest";
import { upload, withQuery } from "../api";
import { useDoing } from "../load";
import { Dialog } from "../parts/dialog";
import { Check, Labelled } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { go, to } from "../route";

// Install shows what a plugin asks for before it is installed, or takes the place of
// another version.
export function Install({ close, done }: { close: () => void; done: () => void }) {
  const [file, setFile] = useState<File>(),
    [offer, setOffer] = useState<PluginOffer>();
  const [granted, setGranted] = useState<string[]>([]),
    [other, setOther] = useState(false);
  const doing = useDoing();
  const chosen = useRef<File>(undefined);
  // examine asks what a file is; another one may be chosen meanwhile.
  const examine = (f: File | undefined) => {
    chosen.current = f;
    setFile(f);
    setOffer(undefined);
    setGranted([]);
    if (f)
      void doing.run(async () => {
        const told = await upload<PluginOffer>("POST", "/v0/box/plugin-offers", f);
        if (chosen.current === f) setOffer(told);
      });
  };
  const install = () =>
    doing.run(async () => {
      const o = offer!;
      const p = o.installed_version
        ? await upload<ReturnPlugin>(
            "PUT",
            withQuery(`/v0/box/plugins/${o.name}`, { grant: granted, other_signer: other || undefined }),
            file!,
          )
        : await upload<ReturnPlugin>("POST", withQuery("/v0/box/plugins", { grant: granted }), file!);
      done();
      go(to("plugins", p.name));
    });
  const toggle = (name: string, on: boolean) => setGranted(on ? [...granted, name] : granted.filter((g) => g !== name));
  return (
    <Dialog title="Install a plugin" close={close}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          if (offer) void install();
        }}
      >
        <Labelled
          id="plugin-file"
          label="File"
          help="A module (.wasm) that carries its manifest, or the tar of an OCI image layout."
        >
          <input
            id="plugin-file"
            type="file"
            accept=".wasm,.tar"
            aria-describedby="plugin-file-help"
            onChange={(e) => examine(e.currentTarget.files?.[0])}
          />
        </Labelled>
        {offer && (
          <>
            <h3>
              {offer.name} {offer.version}
            </h3>
            <p>
              {offer.description} {offer.license && <span class="faint">{offer.license}</span>}
            </p>
            <p>
              {offer.installed_version
                ? `It takes the place of version ${offer.installed_version}, which goes on until this one ` +
                  `has passed its tests.`
                : "It is new on this box."}{" "}
              It is {offer.signed}.
            </p>
            {offer.other_signer && (
              <Check
                label="Take it although somebody else has signed it"
                value={other}
                set={setOther}
                help={offer.other_signer}
              />
            )}
            {offer.asks.length === 0 ? (
              <p>It asks for nothing{offer.installed_version && " new"}: it computes, and that is all.</p>
            ) : (
              <fieldset>
                <legend>What it may do</legend>
                {offer.asks.map((a) => (
                  <Check
                    key={a.name}
                    label={a.words}
                    help={a.name}
                    value={granted.includes(a.name)}
                    set={(on) => toggle(a.name, on)}
                  />
                ))}
              </fieldset>
            )}
            {offer.unset_settings.length > 0 && (
              <p>It waits for these settings then: {offer.unset_settings.join(", ")}.</p>
            )}
          </>
        )}
        <p role="status" class="faint">
          {doing.busy && (offer ? "It is installed …" : "The box looks at it …")}
        </p>
        <ErrorLine error={doing.error} />
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={!offer || doing.busy}>
            {offer?.installed_version ? "Replace it" : "Install it"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
