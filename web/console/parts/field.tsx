import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";

interface Common {
  label: string;
  help?: string;
  error?: string;
  hideLabel?: boolean;
}

// Labelled frames a field with its label, help and error. Screen readers read help and error with the field.
export function Labelled({
  id,
  label,
  help,
  error,
  hideLabel,
  children,
}: Common & { id: string; children: ComponentChildren }) {
  return (
    <div class="field">
      <label for={id} class={hideLabel ? "unseen" : undefined}>
        {label}
      </label>
      {children}
      {help && (
        <p id={`${id}-help`} class="help">
          {help}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} class="error">
          {error}
        </p>
      )}
    </div>
  );
}

const described = (id: string, help?: string, error?: string) =>
  [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;

interface FieldProps extends Common {
  value: string;
  set: (value: string) => void;
  type?: "text" | "password" | "number" | "search" | "url" | "date" | "datetime-local";
  required?: boolean;
  disabled?: boolean;
  placeholder?: string;
  autocomplete?: string;
  min?: number;
  max?: number;
  step?: number | "any";
  maxLength?: number;
}

// Field is an input for a line of text or a number.
export function Field({
  label,
  help,
  error,
  hideLabel,
  value,
  set,
  type = "text",
  autocomplete = "off",
  ...rest
}: FieldProps) {
  const id = useId();
  const kind = { type } as { type: "text" }; // the element types have one type for each kind; this page needs none
  return (
    <Labelled {...{ id, label, help, error, hideLabel }}>
      <input
        id={id}
        dir="auto"
        {...kind}
        value={value}
        autocomplete={autocomplete}
        aria-invalid={error ? true : undefined}
        aria-describedby={described(id, help, error)}
        onInput={(e) => set(e.currentTarget.value)}
        {...rest}
      />
    </Labelled>
  );
}

// Area is a text of several lines.
export function Area({
  label,
  help,
  error,
  hideLabel,
  value,
  set,
  rows = 4,
  code,
  ...rest
}: Common & {
  value: string;
  set: (value: string) => void;
  rows?: number;
  code?: boolean;
  required?: boolean;
  disabled?: boolean;
  placeholder?: string;
  maxLength?: number;
}) {
  const id = useId();
  return (
    <Labelled {...{ id, label, help, error, hideLabel }}>
      <textarea
        id={id}
        dir="auto"
        rows={rows}
        class={code ? "code" : undefined}
        spellcheck={!code}
        value={value}
        aria-invalid={error ? true : undefined}
        aria-describedby={described(id, help, error)}
        onInput={(e) => set(e.currentTarget.value)}
        {...rest}
      />
    </Labelled>
  );
}

// Select is a choice of one option; options are pairs of value and label.
export function Select({
  label,
  help,
  error,
  hideLabel,
  value,
  set,
  options,
  disabled,
}: Common & {
  value: string;
  set: (value: string) => void;
  options: readonly (readonly [string, string])[];
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <Labelled {...{ id, label, help, error, hideLabel }}>
      <select
        id={id}
        value={value}
        disabled={disabled}
        aria-invalid={error ? true : undefined}
        aria-describedby={described(id, help, error)}
        onChange={(e) => set(e.currentTarget.value)}
      >
        {options.map(([v, words]) => (
          <option key={v} value={v}>
            {words}
          </option>
        ))}
      </select>
    </Labelled>
  );
}

// Check is a check box.
export function Check({
  label,
  help,
  error,
  value,
  set,
  disabled,
}: {
  label: string;
  help?: string;
  error?: string;
  value: boolean;
  set: (value: boolean) => void;
  disabled?: boolean;
}) {
  const id = useId();
  return (
    <div class="field check">
      <input
        id={id}
        type="checkbox"
        checked={value}
        disabled={disabled}
        aria-invalid={error ? true : undefined}
        aria-describedby={described(id, help, error)}
        onChange={(e) => set(e.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {help && (
        <p id={`${id}-help`} class="help">
          {help}
        </p>
      )}
      {error && (
        <p id={`${id}-error`} class="error">
          {error}
        </p>
      )}
    </div>
  );
}
