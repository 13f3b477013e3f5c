import { type ComponentChildren, createContext } from "preact";
import { useContext } from "preact/hooks";
import type { ReturnManaged } from "../rest";

// Managed is what the hub of a fleet manages on this box.
export const Managed = createContext<ReturnManaged | undefined>(undefined);

// useManager returns the name of the hub that manages a record.
export function useManager(id: string | undefined): string | undefined {
  const by = useContext(Managed);
  return by && by.ids.includes(id ?? "") ? by.hub : undefined;
}

// ManagedBy says that the hub manages a record.
export function ManagedBy({ hub, what }: { hub: string | undefined; what: string }) {
  if (!hub) return null;
  return (
    <p class="notice">
      The hub {hub} manages this {what}. Change it there, and roll it out.
    </p>
  );
}

// Form is the form of a record. If the hub manages the record, the form says so and cannot be used.
export function Form({
  id,
  what,
  submit,
  children,
}: {
  id: string | undefined;
  what: string;
  submit: () => unknown;
  children: ComponentChildren;
}) {
  const hub = useManager(id);
  return (
    <form
      onSubmit={(e) => {
        e.preventDefault();
        submit();
      }}
    >
      <ManagedBy hub={hub} what={what} />
      <fieldset class="editable" role="presentation" disabled={!!hub}>
        {children}
      </fieldset>
    </form>
  );
}
