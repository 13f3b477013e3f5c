import { useState } from "preact/hooks";
import type { AddedFleetBox } from "../../rest";
import { post } from "../api";
import { useDoing } from "../load";
import { Copy } from "../parts/copy";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { ErrorLine } from "../parts/notice";
import { save } from "../parts/save";
import { faultsOf, unplaced } from "../pages/faults";
import { GroupsField, namesOf } from "./groups";

const boxes = "/v0/box/fleet/boxes";

// AddBox adds a box, and shows the file with which it joins.
export function AddBox({ groups, close, added }: { groups: string[]; close: () => void; added: () => void }) {
  const [name, setName] = useState(""),
    [of, setOf] = useState("");
  const [done, setDone] = useState<AddedFleetBox>();
  const doing = useDoing();
  const faults = faultsOf(doing.error);
  if (done) return <JoinFile added={done} close={close} />;
  const add = () =>
    doing.run(async () => {
      setDone(await post<AddedFleetBox>(boxes, { name: name.trim(), groups: namesOf(of) }));
      added();
    });
  return (
    <Dialog title="Add a box" close={close}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void add();
        }}
      >
        <Field
          label="Name"
          value={name}
          set={setName}
          required
          maxLength={40}
          placeholder="museum-3"
          help="Small letters, digits and hyphens. It stays the box's name."
          error={faults.name}
        />
        <GroupsField value={of} set={setOf} known={groups} error={faults.groups} />
        <ErrorLine error={unplaced(doing.error, (p) => p === "name" || p === "groups")} />
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={doing.busy}>
            Add the box
          </button>
        </div>
      </form>
    </Dialog>
  );
}

// NewJoinFile makes new credentials for a box.
export function NewJoinFile({ name, close, made }: { name: string; close: () => void; made: () => void }) {
  const [done, setDone] = useState<AddedFleetBox>();
  const doing = useDoing();
  if (done) return <JoinFile added={done} close={close} />;
  return (
    <Dialog title={`Make a new file for ${name}?`} close={close}>
      <p>
        The file that the box has now stops working at once, and the box is offline until it has the new one. What it
        has not sent waits on it.
      </p>
      <ErrorLine error={doing.error} />
      <div class="buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          disabled={doing.busy}
          onClick={() =>
            void doing.run(async () => {
              setDone(await post<AddedFleetBox>(`${boxes}/${encodeURIComponent(name)}/join`));
              made();
            })
          }
        >
          Make the file
        </button>
      </div>
    </Dialog>
  );
}

// JoinFile shows the file with which a box joins, and what to do with it.
function JoinFile({ added, close }: { added: AddedFleetBox; close: () => void }) {
  const { name } = added.box,
    file = `${name}.join`,
    place = `/etc/parley/${file}`,
    setting = `echo 'fleet: {join: ${place}}' | sudo tee -a /etc/parley/parley.yaml`;
  const [saved, setSaved] = useState(false);
  return (
    <Dialog title={`The file of ${name}`} close={close} wide>
      <p class="notice">
        This file is shown once. Whoever has it can join as {name}: bring it to the box, and delete it elsewhere.
      </p>
      <p>
        <button
          type="button"
          class="primary"
          onClick={() => {
            save(file, "application/octet-stream", added.join);
            setSaved(true);
          }}
        >
          Download {file}
        </button>{" "}
        <span role="status" class="faint">
          {saved && "Downloaded"}
        </span>
      </p>
      <p>On the box, put the file in its place, name it in the settings, and restart the box:</p>
      <ol class="steps">
        <li>
          <Copy label="the first line" text={`sudo install -D -m 640 -g parley ${file} ${place}`} />
        </li>
        <li>
          <Copy label="the second line" text={setting} />
        </li>
        <li>
          <Copy label="the third line" text="sudo systemctl restart parley" />
        </li>
      </ol>
      <p class="faint">
        Elsewhere, the setting is <code>fleet.join</code> or the variable <code>PARLEY_FLEET_JOIN</code>. The box is
        online here a few seconds after its restart.
      </p>
      <details>
        <summary>The text of the file</summary>
        <pre class="wrapped" tabIndex={0}>
          {added.join}
        </pre>
      </details>
      <div class="buttons">
        <button type="button" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
