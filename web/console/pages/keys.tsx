import { useState } from "preact/hooks";
import type { MadeKey, ReturnKey, ReturnSigningKey } from "../../rest";
import { Refused, get, post, remove } from "../api";
import { useDoing, usePages } from "../load";
import type { PageProps } from "../page";
import { Copy } from "../parts/copy";
import { Confirm, Dialog } from "../parts/dialog";
import { Check, Field, Select } from "../parts/field";
import { Empty, ErrorLine, Failure, Loading } from "../parts/notice";
import { Pager, Table } from "../parts/table";
import { Time } from "../parts/time";
import { faultsOf, unplaced } from "./faults";

// Keys lists the API keys of all accounts.
export function Keys({ who }: PageProps) {
  const [search, setSearch] = useState(""),
    [revoked, setRevoked] = useState(false);
  const keys = usePages<ReturnKey>("/v0/box/keys", "keys_page", { search, revoked });
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState<MadeKey>();
  const [revoking, setRevoking] = useState<ReturnKey>(),
    [renewing, setRenewing] = useState<ReturnKey>();
  const [signing, setSigning] = useState(false);
  const show = (k: MadeKey) => {
    setMade(k);
    keys.reload();
  };
  return (
    <>
      <div class="head">
        <h1>Keys</h1>
        <div class="buttons">
          <button type="button" onClick={() => setSigning(true)}>
            Webhook signing key
          </button>
          <button type="button" class="primary" onClick={() => setMaking(true)}>
            Make a key
          </button>
        </div>
      </div>
      <p>
        A <em>client</em> key gives access to the conversations, configs and history of its account. An{" "}
        <em>operator</em> key also gives access to the whole box. Parley stores only hashes, so it shows a key once,
        when it is made.
      </p>
      <div class="row">
        <Field
          label="Search"
          type="search"
          value={search}
          set={setSearch}
          placeholder="Label, account, id or last characters"
        />
        <Check label="Show revoked keys" value={revoked} set={setRevoked} />
      </div>
      {keys.error && <Failure error={keys.error} again={keys.reload} />}
      {!keys.value && keys.loading && <Loading />}
      {keys.value?.length === 0 && (
        <Empty title={search ? "No key found" : "No keys yet"}>
          <p>
            {search ? "Search for another label, account or id." : "Each program needs a key to use the box."}{" "}
            <button type="button" class="link" onClick={() => setMaking(true)}>
              Make one
            </button>
          </p>
        </Empty>
      )}
      {keys.value && keys.value.length > 0 && (
        <Table
          caption="Keys"
          rows={keys.value}
          id={(k) => k.key_id}
          columns={[
            {
              head: "Label",
              cell: (k) => (
                <>
                  {k.label || <span class="faint">none</span>} {k.kiosk && <span class="tag plain">screen</span>}
                </>
              ),
            },
            { head: "Account", cell: (k) => k.account },
            {
              head: "Role",
              cell: (k) =>
                k.role === "operator" ? <span class="tag">operator</span> : <span class="word">client</span>,
            },
            { head: "Key", cell: (k) => <code class="word">…{k.hint}</code> },
            { head: "Made", cell: (k) => <Time ms={k.created_on} /> },
            {
              head: "Last used",
              cell: (k) => (k.last_used_on ? <Time ms={k.last_used_on} /> : <span class="faint">never</span>),
            },
            { head: "State", cell: (k) => <State k={k} /> },
            {
              head: "",
              cell: (k) =>
                k.revoked_on ? null : (
                  <span class="acts">
                    {!k.kiosk && (
                      <button type="button" onClick={() => setRenewing(k)}>
                        New secrets<span class="unseen"> for {named(k)}</span>
                      </button>
                    )}
                    <button type="button" class="danger" onClick={() => setRevoking(k)}>
                      Revoke<span class="unseen"> {named(k)}</span>
                    </button>
                  </span>
                ),
            },
          ]}
        />
      )}
      <Pager list={keys} />
      {making && (
        <Make
          account={who.account}
          close={() => setMaking(false)}
          done={(k) => {
            setMaking(false);
            show(k);
          }}
        />
      )}
      {made && <Made made={made} close={() => setMade(undefined)} />}
      {revoking && <Revoke k={revoking} close={() => setRevoking(undefined)} done={keys.reload} />}
      {renewing && (
        <Confirm
          title={`New secrets for ${named(renewing)}?`}
          verb="Make new secrets"
          close={() => setRenewing(undefined)}
          does={async () => show(await post<MadeKey>(`/v0/box/keys/${renewing.key_id}/regenerate`))}
        >
          <p>The present secrets stop working at once. Give the new ones to the programs that use this key.</p>
        </Confirm>
      )}
      {signing && <Signing account={who.account} close={() => setSigning(false)} />}
    </>
  );
}

const named = (k: ReturnKey) => k.label || `the key …${k.hint}`;

function State({ k }: { k: ReturnKey }) {
  if (k.revoked_on) return <span class="tag bad">revoked</span>;
  return k.expires_on ? (
    <>
      until <Time ms={k.expires_on} />
    </>
  ) : (
    <span class="word">active</span>
  );
}

const lives = [
  ["", "No expiry"],
  ["3600", "One hour"],
  ["86400", "One day"],
  ["2592000", "30 days"],
  ["31536000", "One year"],
] as const;

function Make({ account: mine, close, done }: { account: string; close: () => void; done: (k: MadeKey) => void }) {
  const [account, setAccount] = useState(mine),
    [label, setLabel] = useState(""),
    [role, setRole] = useState("client"),
    [life, setLife] = useState("");
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  const make = () =>
    doing.run(async () =>
      done(await post<MadeKey>("/v0/box/keys", { account, label, role, expires_in: life ? Number(life) : undefined })),
    );
  return (
    <Dialog title="Make a key" close={close}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void make();
        }}
      >
        <Field
          label="Label"
          value={label}
          set={setLabel}
          error={faults.label}
          help="What the key is for."
          maxLength={64}
        />
        <Field
          label="Account"
          value={account}
          set={setAccount}
          error={faults.account}
          help="The account whose conversations the key can use. A new name makes a new account."
          required
          maxLength={64}
        />
        <Select
          label="Role"
          value={role}
          set={setRole}
          error={faults.role}
          options={[
            ["client", "Client: this account only"],
            ["operator", "Operator: the whole box"],
          ]}
        />
        <Select label="Valid for" value={life} set={setLife} error={faults.expires_in} options={lives} />
        <ErrorLine error={unplaced(doing.error, (f) => ["label", "account", "role", "expires_in"].includes(f))} />
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button class="primary" disabled={doing.busy}>
            Make the key
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function Made({ made, close }: { made: MadeKey; close: () => void }) {
  return (
    <Dialog title="Copy these secrets now" close={close}>
      <p>Parley does not store the API key and the secret key, and cannot show them again.</p>
      <dl class="told">
        <dt>API key</dt>
        <dd>
          <Copy text={made.api_key} label="the API key" />
        </dd>
        <dt>Secret key</dt>
        <dd>
          <Copy text={made.secret_key} label="the secret key" />
        </dd>
        <dt>Webhook signing key</dt>
        <dd>
          <Copy text={made.webhook_signing_key} label="the webhook signing key" />
        </dd>
      </dl>
      <div class="buttons">
        <button type="button" class="primary" onClick={close}>
          I have copied them
        </button>
      </div>
    </Dialog>
  );
}

// Revoke asks a second time when the key is the last operator key.
function Revoke({ k, close, done }: { k: ReturnKey; close: () => void; done: () => void }) {
  const [last, setLast] = useState(false),
    [sure, setSure] = useState(false);
  const revoke = async () => {
    try {
      await remove(`/v0/box/keys/${k.key_id}${last && sure ? "?last=true" : ""}`);
    } catch (err) {
      if (err instanceof Refused && err.status === 409) setLast(true);
      throw err;
    }
    done();
  };
  return (
    <Confirm title={`Revoke ${named(k)}?`} verb="Revoke" close={close} does={revoke}>
      <p>The key and its tokens stop working at once and for good. Conversations opened with it end.</p>
      {last && (
        <Check
          label="Revoke the last operator key"
          value={sure}
          set={setSure}
          help="Without one, only the machine itself can make a new one: parley keys create --role operator"
        />
      )}
    </Confirm>
  );
}

function Signing({ account: mine, close }: { account: string; close: () => void }) {
  const [account, setAccount] = useState(mine);
  const [key, setKey] = useState<ReturnSigningKey>(),
    [replacing, setReplacing] = useState(false);
  const doing = useDoing();
  const path = () => `/v0/box/signing-keys/${encodeURIComponent(account)}`;
  return (
    <Dialog title="Webhook signing key" close={close}>
      <p>A receiver uses this key to verify that a webhook comes from this box. Each account has one.</p>
      <form
        class="row"
        onSubmit={(e) => {
          e.preventDefault();
          void doing.run(async () => setKey(await get<ReturnSigningKey>(path())));
        }}
      >
        <Field label="Account" value={account} set={setAccount} required maxLength={64} />
        <button disabled={doing.busy}>Show</button>
      </form>
      {key && (
        <p>
          <Copy text={key.webhook_signing_key} label="the webhook signing key" />
        </p>
      )}
      <ErrorLine error={doing.error} />
      <div class="buttons">
        <button type="button" class="danger" disabled={!key} onClick={() => setReplacing(true)}>
          Make a new one
        </button>
        <button type="button" onClick={close}>
          Close
        </button>
      </div>
      {replacing && key && (
        <Confirm
          title="Sign with a new key?"
          verb="Replace the key"
          close={() => setReplacing(false)}
          does={async () => setKey(await post<ReturnSigningKey>(path()))}
        >
          <p>
            The old key stops working at once. The receivers of {key.account} reject webhooks until they know the new
            key.
          </p>
        </Confirm>
      )}
    </Dialog>
  );
}
