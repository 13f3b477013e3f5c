import type { ComponentChildren } from "preact";

// ErrorLine shows the error of the last action. Screen readers announce it.
export function ErrorLine({ error }: { error?: Error }) {
  return (
    <p class="error" role="alert">
      {error?.message}
    </p>
  );
}

// Failure replaces content that could not be loaded.
export function Failure({ error, again }: { error: Error; again?: () => void }) {
  return (
    <div class="failure" role="alert">
      <p>{error.message}</p>
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

// Empty explains an empty list and how to fill it.
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

// Loading is shown until the first answer arrives.
export function Loading() {
  return (
    <p class="loading" role="status">
      Loading …
    </p>
  );
}
