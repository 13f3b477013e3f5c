import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { useDoing } from "../load";
import { ErrorLine } from "./notice";

// Dialog asks for something above the page. The browser keeps the focus in it, and
// gives it back; Escape closes it.
export function Dialog({ title, close, wide, children }: { title: string; close: () => void; wide?: boolean; children: ComponentChildren }) {
  const id = useId();
  const at = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const d = at.current!;
    if (!d.open) d.showModal();
    return () => d.close();
  }, []);
  return (
    <dialog ref={at} class={wide ? "wide" : undefined} aria-labelledby={id} onCancel={(e) => { e.preventDefault(); close(); }}>
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

// Confirm asks before something that cannot be undone. verb is what the button says.
export function Confirm({ title, verb, does, close, children }: { title: string; verb: string; does: () => Promise<unknown>; close: () => void; children?: ComponentChildren }) {
  const doing = useDoing();
  return (
    <Dialog title={title} close={close}>
      {children}
      <ErrorLine error={doing.error} />
      <div class="buttons">
        <button type="button" onClick={close}>Cancel</button>
        <button type="button" class="danger" disabled={doing.busy} onClick={async () => { if (await doing.run(does)) close(); }}>{verb}</button>
      </div>
    </Dialog>
  );
}
