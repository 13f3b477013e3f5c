import { useEffect, useRef } from "preact/hooks";
import type { Loaded } from "../load";

// useEvery loads a value again some seconds after its last answer, while the page is visible and active.
export function useEvery<T>(loaded: Loaded<T>, seconds: number, active = true): void {
  const newest = useRef(loaded);
  newest.current = loaded;
  useEffect(() => {
    if (!active || loaded.loading) return;
    let timer = 0;
    const again = () => {
      timer = 0;
      if (!document.hidden) newest.current.reload();
    };
    const seen = () => {
      if (!document.hidden && !timer) again();
    };
    timer = window.setTimeout(again, seconds * 1000);
    document.addEventListener("visibilitychange", seen);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [active, seconds, loaded.loading]);
}
