import { useEffect, useRef, useState } from "preact/hooks";

// usePlayer plays one sound at a time.
export function usePlayer() {
  const audio = useRef<HTMLAudioElement | undefined>(undefined);
  const address = useRef("");
  const stopping = useRef(new AbortController());
  const [playing, setPlaying] = useState("");
  const [waiting, setWaiting] = useState("");
  const stop = () => {
    stopping.current.abort();
    audio.current?.pause();
    audio.current = undefined;
    URL.revokeObjectURL(address.current);
    setPlaying("");
    setWaiting("");
  };
  useEffect(() => stop, []);
  // play fetches a sound and plays it until it ends or another sound starts.
  const play = async (id: string, sound: (signal: AbortSignal) => Promise<Blob>) => {
    stop();
    const mine = (stopping.current = new AbortController());
    setWaiting(id);
    try {
      const file = await sound(mine.signal);
      if (mine.signal.aborted) return;
      address.current = URL.createObjectURL(file);
      const a = (audio.current = new Audio(address.current));
      a.onended = stop;
      setWaiting("");
      setPlaying(id);
      await a.play();
    } catch (err) {
      if (mine.signal.aborted) return;
      stop();
      throw err;
    }
  };
  return { playing, waiting, play, stop };
}
