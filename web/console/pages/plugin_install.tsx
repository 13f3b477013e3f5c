import { useRef, useState } from "preact/hooks";
import type { PluginOffer, ReturnPlugin } from "../../rest";
import { upload, withQuery } from "../api";
import { useDoing } from "../load";
import { Dialog } from "../parts/dialog";
import { Check, Labelled } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { go, to } from "../route";

// Install shows the permissions that a plugin asks for, before it is installed or replaces another version.
export function Install({ close, done }: { close: () => void; done: () => void }) {
  const [file, setFile] = useState<File>(),
    [offer, setOffer] = useState<PluginOffer>();
  const [granted, setGranted] = useState<string[]>([]),
    [other, setOther] = useState(false);
  const doing = useDoing();
  const chosen = useRef<File>(undefined);
  // examine has the box inspect the file. The user may choose another file meanwhile.
  const examine = (f: File | undefined) => {
    chosen.current = f;
    setFile(f);
    setOffer(undefined);
    setGranted([]);
    if (f)
      void doing.run(async () => {
        const found = await upload<PluginOffer>("POST", "/v0/box/plugin-offers", f);
        if (chosen.current === f) setOffer(found);
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
          help="A module (.wasm) with its manifest inside, or the tar of an OCI image layout."
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
                ? `It replaces version ${offer.installed_version}, which stays in use until the new version ` +
                  `has passed its tests.`
                : "It is new on this box."}{" "}
              It is {offer.signed}.
            </p>
            {offer.other_signer && (
              <Check label="Accept the different signer" value={other} set={setOther} help={offer.other_signer} />
            )}
            {offer.asks.length === 0 ? (
              <p>It asks for no {offer.installed_version && "new "}permissions.</p>
            ) : (
              <fieldset>
                <legend>Permissions</legend>
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
              <p>It needs these settings before it can run: {offer.unset_settings.join(", ")}.</p>
            )}
          </>
        )}
        <p role="status" class="faint">
          {doing.busy && (offer ? "Installing …" : "Checking the file …")}
        </p>
        <ErrorLine error={doing.error} />
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={!offer || doing.busy}>
            {offer?.installed_version ? "Replace" : "Install"}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
