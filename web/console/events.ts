import { useEffect, useRef, useState } from "preact/hooks";
import { answer } from "./api";

// follow reads a stream of server-sent events until the stream ends or signal aborts. It uses fetch, because
// EventSource does not tell why the server refused.
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

// A broken stream is reopened after this many milliseconds; the delay doubles up to the second number.
const firstWait = 1000,
  lastWait = 30_000;

// useEvents follows a stream while the page is visible; an undefined path means no stream. It reopens a stream that
// ends, unless the caller passes a function to call at the end. It returns the error while the stream is broken.
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
