import type { ComponentChildren } from "preact";

// ErrorLine says what went wrong with what somebody just did, and is read out.
export function ErrorLine({ error }: { error?: Error }) {
  return (
    <p class="error" role="alert">
      {error?.message}
    </p>
  );
}

// Failure stands in the place of what could not be read.
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

// Empty says what could stand here, and how it comes there.
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

// Loading is shown until the first answer is there.
export function Loading() {
  return (
    <p class="loading" role="status">
      Loading …
    </p>
  );
}
