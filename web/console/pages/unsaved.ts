import { useLayoutEffect } from "preact/hooks";
import { follow, guard, writes } from "../route";

const asks = () => confirm("Leave without saving what you changed?");

// useUnsaved makes the browser ask before the user leaves a page with unsaved changes: by closing it, by a link of the
// console, or with Back. It does not ask while a save is running. It takes effect with the first typed letter, not only
// at the next frame.
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
