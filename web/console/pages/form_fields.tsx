import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { Area, Check, Field, Select } from "../parts/field";
import { type Draft, at, put } from "./draft";
import type { Faults } from "./faults";

// A Form is a draft and its errors. Fields are bound to paths of the draft; errors from the box name the same paths.
export interface Form {
  draft: Draft;
  set: (d: Draft) => void;
  faults: Faults;
  placed: Set<string>;
}

export const FormOf = createContext<Form>(undefined!);

// useBound returns the value at a path, its error, and a function that changes it.
export function useBound<T>(path: string): { value: T | undefined; set: (v: T | undefined) => void; error?: string } {
  const form = useContext(FormOf);
  form.placed.add(path);
  return {
    value: at(form.draft, path) as T | undefined,
    set: (v) => form.set(put(form.draft, path, v)),
    error: form.faults[path],
  };
}

interface Words {
  path: string;
  label: string;
  help?: string;
  hideLabel?: boolean;
}

// TextAt is a line of text. An empty line removes the field.
export function TextAt({
  path,
  ...rest
}: Words & { type?: "text" | "url"; maxLength?: number; placeholder?: string; required?: boolean }) {
  const b = useBound<string>(path);
  return <Field {...rest} value={b.value ?? ""} set={(v) => b.set(v || undefined)} error={b.error} />;
}

// AreaAt is a text of several lines. An empty text removes the field.
export function AreaAt({ path, ...rest }: Words & { rows?: number; maxLength?: number; placeholder?: string }) {
  const b = useBound<string>(path);
  return <Area {...rest} value={b.value ?? ""} set={(v) => b.set(v || undefined)} error={b.error} />;
}

// NumberAt is a number. Empty removes the field, so that the default of the box applies.
export function NumberAt({
  path,
  ...rest
}: Words & { min?: number; max?: number; step?: number | "any"; placeholder?: string }) {
  const b = useBound<number>(path);
  return (
    <Field
      {...rest}
      type="number"
      value={b.value === undefined ? "" : String(b.value)}
      set={(v) => b.set(v === "" ? undefined : Number(v))}
      error={b.error}
    />
  );
}

// CheckAt is a check box. It shows otherwise when the field is absent.
export function CheckAt({ path, label, help, otherwise = false }: Words & { otherwise?: boolean }) {
  const b = useBound<boolean>(path);
  return <Check label={label} help={help} value={b.value ?? otherwise} set={b.set} error={b.error} />;
}

// ChoiceAt is a choice of one option. The empty option removes the field.
export function ChoiceAt({ path, options, ...rest }: Words & { options: readonly (readonly [string, string])[] }) {
  const b = useBound<string>(path);
  return (
    <Select {...rest} value={b.value ?? ""} set={(v) => b.set(v || undefined)} options={options} error={b.error} />
  );
}
