import { useEffect, useState } from "preact/hooks";
import type { KioskCode, ReturnBoxHealth, ReturnConfig, ReturnKiosk } from "../../rest";
import { everything, post, remove } from "../api";
import { useEvents } from "../events";
import { useDoing, useLoad, usePages } from "../load";
import type { PageProps } from "../page";
import { Copy } from "../parts/copy";
import { Confirm, Dialog } from "../parts/dialog";
import { Check, Field, Select } from "../parts/field";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Pager, Table } from "../parts/table";
import { Time } from "../parts/time";
import { faultsOf, unplaced } from "./faults";

// Kiosks lists the paired screens. Each screen talks with one assistant.
export function Kiosks({ who }: PageProps) {
  const [search, setSearch] = useState(""),
    [revoked, setRevoked] = useState(false);
  const screens = usePages<ReturnKiosk>("/v0/box/kiosks", "kiosks_page", { search, revoked });
  const [pairing, setPairing] = useState(false),
    [revoking, setRevoking] = useState<ReturnKiosk>();
  // The list reloads whenever the number of paired screens changes.
  const [paired, setPaired] = useState<number>();
  useEvents<ReturnBoxHealth>("/v0/box/health/events", (h) => setPaired(h.kiosks));
  useEffect(screens.reload, [paired]);
  return (
    <>
      <div class="head">
        <h1>Screens</h1>
        <button type="button" class="primary" onClick={() => setPairing(true)}>
          Pair a screen
        </button>
      </div>
      <p>
        A screen opens <a href="/kiosk">/kiosk</a> and holds conversations with one assistant. Its key gives access to
        nothing else.
      </p>
      <div class="row">
        <Field label="Search" type="search" value={search} set={setSearch} placeholder="Name, account or id" />
        <Check label="Show revoked screens" value={revoked} set={setRevoked} />
      </div>
      {screens.error && <Failure error={screens.error} again={screens.reload} />}
      {!screens.value && screens.loading && <Loading />}
      {screens.value?.length === 0 && (
        <Empty title={search ? "No screen found" : "No screen is paired"}>
          <p>
            {search
              ? "Search for another name, account or id."
              : "Pair a tablet on the wall, or any browser, with a code of eight characters."}{" "}
            <button type="button" class="link" onClick={() => setPairing(true)}>
              Make a code
            </button>
          </p>
        </Empty>
      )}
      {screens.value && screens.value.length > 0 && (
        <Table
          caption="Screens"
          rows={screens.value}
          id={(k) => k.key_id}
          columns={[
            { head: "Name", cell: (k) => k.name },
            { head: "Account", cell: (k) => k.account },
            {
              head: "Config",
              cell: (k) =>
                k.config_name ??
                (k.config_id ? (
                  <>
                    deleted config <span class="tag bad">does not answer</span>
                  </>
                ) : (
                  "default assistant"
                )),
            },
            { head: "Paired", cell: (k) => <Time ms={k.paired_on} /> },
            {
              head: "",
              cell: (k) =>
                k.revoked_on ? (
                  <span class="tag bad">revoked</span>
                ) : (
                  <button type="button" class="danger" onClick={() => setRevoking(k)}>
                    Revoke<span class="unseen"> {k.name}</span>
                  </button>
                ),
            },
          ]}
        />
      )}
      <Pager list={screens} />
      {pairing && (
        <Pair
          account={who.account}
          paired={paired}
          close={() => {
            setPairing(false);
            screens.reload();
          }}
        />
      )}
      {revoking && (
        <Confirm
          title={`Revoke ${revoking.name}?`}
          verb="Revoke"
          close={() => setRevoking(undefined)}
          does={async () => {
            await remove(`/v0/box/kiosks/${revoking.key_id}`);
            screens.reload();
          }}
        >
          <p>Its conversation ends, and the screen asks for a new code.</p>
        </Confirm>
      )}
    </>
  );
}

// Pair makes a pairing code and reports when a screen has used it.
function Pair({ account, paired, close }: { account: string; paired?: number; close: () => void }) {
  const configs = useLoad(() => everything<ReturnConfig>("/v0/evi/configs", "configs_page"), []);
  const [name, setName] = useState("Lobby"),
    [config, setConfig] = useState("");
  const [code, setCode] = useState<KioskCode>(),
    [before, setBefore] = useState<number>();
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  const make = () =>
    doing.run(async () => {
      setBefore(paired);
      setCode(await post<KioskCode>("/v0/box/kiosk-codes", { name, account, config_id: config || undefined }));
    });
  if (code) {
    const address = `${location.origin}/kiosk`;
    const done = before !== undefined && paired !== undefined && paired > before;
    return (
      <Dialog title={`Pair ${code.name}`} close={close}>
        <p>
          Open <Copy text={address} label="the address" /> on the screen and type:
        </p>
        <p class="code-shown">
          <Copy text={code.code} label="the code" />
        </p>
        <p role="status">
          {done ? (
            "The screen is paired."
          ) : (
            <>
              The code pairs one screen and expires <Time ms={code.expires_on} />.
            </>
          )}
        </p>
        <div class="buttons">
          <button type="button" class="primary" onClick={close}>
            {done ? "Done" : "Close"}
          </button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title="Pair a screen" close={close}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void make();
        }}
      >
        <Field
          label="Name"
          value={name}
          set={setName}
          error={faults.name}
          help="Where the screen is. The screen shows this name."
          required
          maxLength={64}
        />
        <Select
          label="Config"
          value={config}
          set={setConfig}
          error={faults.config_id}
          options={[["", "Default assistant"], ...(configs.value ?? []).map((c) => [c.id, c.name] as const)]}
          help={`Configs of the account ${account}.`}
        />
        <ErrorLine error={configs.error ?? unplaced(doing.error, (f) => ["name", "config_id"].includes(f))} />
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={doing.busy}>
            Make a code
          </button>
        </div>
      </form>
    </Dialog>
  );
}
