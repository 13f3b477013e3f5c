import { useState } from "preact/hooks";
import { patch } from "../api";
import { useDoing } from "../load";
import { faultsOf, unplaced } from "../pages/faults";
import { Dialog } from "../parts/dialog";
import { Field } from "../parts/field";
import { ErrorLine } from "../parts/notice";

// namesOf parses names with spaces or commas between them.
export const namesOf = (text: string) => [...new Set(text.split(/[\s,]+/).filter(Boolean))];

// GroupsField is a field for the groups of a box.
export function GroupsField({
  value,
  set,
  known,
  error,
}: {
  value: string;
  set: (value: string) => void;
  known: string[];
  error?: string;
}) {
  const some = known.slice(0, 10).join(", ");
  return (
    <Field
      label="Groups"
      value={value}
      set={set}
      placeholder="lobby, north"
      help={`Names with commas between them. Roll-outs can go to a group.${some && ` There are: ${some}`}`}
      error={error}
    />
  );
}

// ChangeGroups changes the groups of a box.
export function ChangeGroups({
  name,
  groups,
  close,
  changed,
}: {
  name: string;
  groups: string[];
  close: () => void;
  changed: () => void;
}) {
  const [text, setText] = useState(groups.join(", "));
  const doing = useDoing();
  const change = async () => {
    const path = `/v0/box/fleet/boxes/${encodeURIComponent(name)}`;
    if (await doing.run(() => patch(path, { groups: namesOf(text) }))) {
      changed();
      close();
    }
  };
  return (
    <Dialog title={`Groups of ${name}`} close={close}>
      <form
        onSubmit={(e) => {
          e.preventDefault();
          void change();
        }}
      >
        <GroupsField value={text} set={setText} known={[]} error={faultsOf(doing.error).groups} />
        <p class="faint">
          What is rolled out to its new groups goes to the box at once, and what came from others goes.
        </p>
        <ErrorLine error={unplaced(doing.error, (p) => p.startsWith("groups"))} />
        <div class="buttons">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={doing.busy}>
            Change the groups
          </button>
        </div>
      </form>
    </Dialog>
  );
}
