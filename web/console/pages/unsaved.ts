import { useLayoutEffect } from "preact/hooks";
import { follow, guard, writes } from "../route";

const asks = () => confirm("Leave without saving what you changed?");

// useUnsaved has the browser ask before it leaves a page on which something is not
// saved: when it is closed, when a link of the console leads away, and with Back. While
// it is being saved nobody is asked. It holds with the letter that is written, and not
// only from the next frame on.
export function useUnsaved(changed: boolean, saving: boolean): void {
  useLayoutEffect(() => {
    writes(changed);
    return () => writes(false);
  }, [changed]);
  const dirty = changed && !saving;
  useLayoutEffect(() => {
    if (!dirty) return;
    const closing = (e: BeforeUnloadEvent) => e.preventDefault();
    const leaving = (e: MouseEvent) => {
      const link = (e.target as Element).closest<HTMLAnchorElement>("a[href^='#/']");
      if (!link || e.ctrlKey || e.metaKey || e.shiftKey) return;
      if (asks()) follow(link.hash);
      else e.preventDefault();
    };
    guard(asks);
    addEventListener("beforeunload", closing);
    document.addEventListener("click", leaving, true);
    return () => {
      guard(undefined);
      removeEventListener("beforeunload", closing);
      document.removeEventListener("click", leaving, true);
    };
  }, [dirty]);
}
