import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { type Paged, type Query, get } from "./api";

export interface Loaded<T> {
  value?: T; // the last value, also during a reload
  error?: Error;
  loading: boolean;
  reload: () => void;
}

// useLoad fetches a value when the component mounts, when one of its reasons changes, and when reload is called. It
// drops answers that arrive after a newer request.
export function useLoad<T>(read: (signal: AbortSignal) => Promise<T>, reasons: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ value?: T; error?: Error; loading: boolean }>({ loading: true });
  const [round, setRound] = useState(0);
  const newest = useRef(read);
  newest.current = read;
  useEffect(() => {
    const stop = new AbortController();
    setState((s) => ({ ...s, loading: true }));
    newest.current(stop.signal).then(
      (value) => {
        if (!stop.signal.aborted) setState({ value, loading: false });
      },
      (error: Error) => {
        if (!stop.signal.aborted) setState((s) => ({ ...s, error, loading: false }));
      },
    );
    return () => stop.abort();
  }, [round, ...reasons]);
  const reload = useCallback(() => setRound((n) => n + 1), []);
  return { ...state, reload };
}

export interface List<T> extends Loaded<T[]> {
  page: number;
  pages: number;
  go: (page: number) => void;
}

// usePages fetches a list page by page. rows is the field of the answer that holds the rows.
export function usePages<T>(path: string, rows: string, query: Query = {}, size = 20): List<T> {
  const [page, go] = useState(0);
  const asked = JSON.stringify(query);
  useEffect(() => go(0), [path, asked]);
  const l = useLoad(
    (signal) => get<Paged & Record<string, unknown>>(path, { ...query, page_number: page, page_size: size }, signal),
    [path, asked, page, size],
  );
  // The only row of the last page was deleted: go to the page before.
  const pages = l.value?.total_pages ?? 0;
  useEffect(() => {
    if (!l.loading && page > 0 && page >= pages) go(Math.max(0, pages - 1));
  }, [l.loading, page, pages]);
  return { ...l, value: l.value?.[rows] as T[] | undefined, page, pages, go };
}

// useDoing runs one action of a button at a time and holds its error. A button disabled during the action gets the
// focus back afterwards.
export function useDoing(): {
  busy: boolean;
  error?: Error;
  run: (does: () => Promise<unknown>) => Promise<boolean>;
  clear: () => void;
} {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const pressed = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    if (!busy && document.activeElement === document.body) pressed.current?.focus();
  }, [busy]);
  const run = async (does: () => Promise<unknown>) => {
    pressed.current = document.activeElement as HTMLElement | null;
    setBusy(true);
    setError(undefined);
    try {
      await does();
      return true;
    } catch (err) {
      setError(err instanceof Error ? err : new Error(String(err)));
      return false;
    } finally {
      setBusy(false);
    }
  };
  return { busy, error, run, clear: () => setError(undefined) };
}

// A value that may change is loaded again after this many milliseconds; each further wait is half as long again, up to
// the second number.
const firstPoll = 250,
  lastPoll = 3000;

// usePolling loads a value again and again while it may still change and the page is visible.
export function usePolling<T>(loaded: Loaded<T>, mayChange: (value: T) => boolean): void {
  const polls = loaded.value !== undefined && mayChange(loaded.value);
  useEffect(() => {
    if (!polls) return;
    let wait = firstPoll,
      timer = 0;
    const poll = () => {
      if (!document.hidden) loaded.reload();
      wait = Math.min(1.5 * wait, lastPoll);
      timer = window.setTimeout(poll, wait);
    };
    timer = window.setTimeout(poll, wait);
    return () => clearTimeout(timer);
  }, [polls]);
}
