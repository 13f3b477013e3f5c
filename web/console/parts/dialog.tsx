import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useDoing } from "../load";
import { ErrorLine } from "./notice";

// Dialog is a modal dialog. The browser keeps the focus inside; Escape closes it. Dialog returns the focus to the
// element that opened it, because browsers do not do that for a dialog that is removed from the page.
export function Dialog({
  title,
  close,
  wide,
  children,
}: {
  title: string;
  close: () => void;
  wide?: boolean;
  children: ComponentChildren;
}) {
  const id = useId();
  const at = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const d = at.current!,
      before = document.activeElement as HTMLElement | null;
    if (!d.open) d.showModal();
    return () => {
      d.close();
      setTimeout(() => {
        if (document.activeElement === document.body) before?.focus();
      });
    };
  }, []);
  return (
    <dialog
      ref={at}
      class={wide ? "wide" : undefined}
      aria-labelledby={id}
      onCancel={(e) => {
        e.preventDefault();
        close();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

// Confirm asks before an action that cannot be undone. verb is the label of its button.
export function Confirm({
  title,
  verb,
  does,
  close,
  children,
}: {
  title: string;
  verb: string;
  does: () => Promise<unknown>;
  close: () => void;
  children?: ComponentChildren;
}) {
  const doing = useDoing();
  return (
    <Dialog title={title} close={close}>
      {children}
      <ErrorLine error={doing.error} />
      <div class="buttons">
        <button type="button" onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class="danger"
          disabled={doing.busy}
          onClick={async () => {
            if (await doing.run(does)) close();
          }}
        >
          {verb}
        </button>
      </div>
    </Dialog>
  );
}
