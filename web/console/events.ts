import { useEffect, useRef, useState } from "preact/hooks";
import { answer } from "./api";

// follow reads a stream of server-sent events until it ends or signal does. It is
// fetched, and not an EventSource, which says nothing of why it was refused.
async function follow<T>(path: string, take: (event: T) => void, signal: AbortSignal): Promise<void> {
  const res = await answer("GET", path, { signal });
  const reader = res.body!.getReader(),
    words = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + words.decode(value, { stream: true })).split("\n");
    rest = lines.pop()!;
    for (const line of lines) if (line.startsWith("data: ")) take(JSON.parse(line.slice("data: ".length)) as T);
  }
}

// A stream that breaks is opened again after so many milliseconds, each time twice as
// many, up to the last.
const firstWait = 1000,
  lastWait = 30_000;

// useEvents takes the events of a stream while the page is to be seen; path undefined
// is none. A stream that ends is opened again, unless somebody wants to know of its
// end. It returns what went wrong, until it goes on.
export function useEvents<T>(
  path: string | undefined,
  take: (event: T) => void,
  ended?: () => void,
): Error | undefined {
  const [error, setError] = useState<Error>();
  const newest = useRef({ take, ended });
  newest.current = { take, ended };
  useEffect(() => {
    if (!path) return;
    let stop: AbortController | undefined,
      timer = 0,
      wait = firstWait;
    const again = () => {
      timer = window.setTimeout(open, wait);
      wait = Math.min(2 * wait, lastWait);
    };
    const open = () => {
      const mine = (stop = new AbortController());
      const told = (event: T) => {
        wait = firstWait;
        setError(undefined);
        newest.current.take(event);
      };
      follow(path, told, mine.signal).then(
        () => {
          if (mine.signal.aborted) return;
          if (newest.current.ended) newest.current.ended();
          else again();
        },
        (err: Error) => {
          if (mine.signal.aborted) return;
          setError(err);
          again();
        },
      );
    };
    const close = () => {
      clearTimeout(timer);
      stop?.abort();
      stop = undefined;
    };
    const seen = () => {
      if (document.hidden) close();
      else if (!stop) open();
    };
    seen();
    document.addEventListener("visibilitychange", seen);
    return () => {
      document.removeEventListener("visibilitychange", seen);
      close();
    };
  }, [path]);
  return error;
}
