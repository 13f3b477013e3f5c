import { useState } from "preact/hooks";
import type { PhoneCall, PhoneTrunk, ReturnConfig } from "../../rest";
import { everything, post } from "../api";
import { useDoing, useLoad } from "../load";
import { Dialog } from "../parts/dialog";
import { Check, Field, Select } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { faultsOf, unplaced } from "./faults";
import { from } from "./phone_words";

// Call calls a number with one of the account's configs.
export function Call({ trunks, account, close }: { trunks: PhoneTrunk[]; account: string; close: () => void }) {
  const configs = useLoad(() => everything<ReturnConfig>("/v0/evi/configs", "configs_page"), []);
  const [number, setNumber] = useState(""),
    [config, setConfig] = useState(""),
    [trunk, setTrunk] = useState(trunks[0]?.name ?? "");
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  const chosen = config || configs.value?.[0]?.id || "";
  return (
    <Dialog title="Call a number" close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          const call = { to: number, config_id: chosen, trunk, account };
          if (await doing.run(() => post("/v0/box/phone/calls", call))) close();
        }}
      >
        <Field
          label="Number"
          value={number}
          set={setNumber}
          error={faults.to}
          help="Such as +49 30 12345 or 201, or a SIP address."
          required
          maxLength={255}
        />
        <Select
          label="Config"
          value={chosen}
          set={setConfig}
          error={faults.config_id}
          options={(configs.value ?? []).map((c) => [c.id, c.name] as const)}
          help={
            configs.value?.length === 0
              ? "There is no config yet: make one on the page Configs."
              : `Who talks, of the account ${account}.`
          }
        />
        {trunks.length > 1 && (
          <Select
            label="Trunk"
            value={trunk}
            set={setTrunk}
            error={faults.trunk}
            options={trunks.map((t) => [t.name, t.name] as const)}
          />
        )}
        <ErrorLine
          error={
            configs.error ??
            unplaced(doing.error, (f) => f === "to" || f === "config_id" || (f === "trunk" && trunks.length > 1))
          }
        />
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={doing.busy || !chosen}>
            Call
          </button>
        </div>
      </form>
    </Dialog>
  );
}

// Transfer hands a live call over to a person.
export function Transfer({ call, close }: { call: PhoneCall; close: () => void }) {
  const stream = !call.trunk; // the provider redirects no call
  const [number, setNumber] = useState(""),
    [attended, setAttended] = useState(true),
    [brief, setBrief] = useState("");
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  const hand = () =>
    post(`/v0/box/phone/calls/${encodeURIComponent(call.call_id)}/transfer`, {
      to: number,
      attended,
      brief: attended && brief ? brief : undefined,
    });
  return (
    <Dialog title={`Transfer ${from(call)}`} close={close}>
      <form
        onSubmit={async (e) => {
          e.preventDefault();
          if (await doing.run(hand)) close();
        }}
      >
        <Field label="Number" value={number} set={setNumber} error={faults.to} required maxLength={255} />
        <Check
          label="Announce the call"
          value={attended}
          set={setAttended}
          disabled={stream}
          help="The box calls the person and says who calls. It joins the two when the person says yes or presses 1."
        />
        {attended && (
          <Field
            label="What the box says"
            value={brief}
            set={setBrief}
            error={faults.brief}
            placeholder="A guest asks about a lost umbrella."
            help="Without a text the box says who calls."
            maxLength={500}
          />
        )}
        <ErrorLine error={unplaced(doing.error, (f) => f === "to" || f === "brief")} />
        <p role="status">{doing.busy && (attended ? "The caller waits while the phone rings …" : "Handing over …")}</p>
        <div class="buttons">
          <button type="button" onClick={close}>
            {doing.busy ? "Close" : "Cancel"}
          </button>
          <button class="primary" disabled={doing.busy}>
            Transfer
          </button>
        </div>
      </form>
    </Dialog>
  );
}
