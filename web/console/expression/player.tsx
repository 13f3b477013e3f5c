import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

// Player plays a local recording or video. moved is called for each frame while it plays, at a few times a second, and
// length once, with seconds.
export function Player({
  media,
  file,
  video,
  moved,
  at,
  length,
}: {
  media: RefObject<HTMLMediaElement | null>;
  file: File;
  video: boolean;
  moved: (seconds: number) => void;
  at: (seconds: number) => void;
  length: (seconds: number) => void;
}) {
  const [address, setAddress] = useState<string>();
  const [unplayable, setUnplayable] = useState(false);
  useEffect(() => {
    const url = URL.createObjectURL(file);
    setAddress(url);
    return () => URL.revokeObjectURL(url);
  }, [file]);
  useEffect(() => {
    let frame = 0;
    const follow = () => {
      if (media.current && !media.current.paused) moved(media.current.currentTime);
      frame = requestAnimationFrame(follow);
    };
    follow();
    return () => cancelAnimationFrame(frame);
  }, []);
  if (unplayable) return <p class="quiet">This browser cannot play this kind of file, so only its scores are shown.</p>;
  if (!address) return null;
  const all = {
    src: address,
    controls: true,
    preload: "metadata",
    "aria-label": file.name,
    onError: () => setUnplayable(true),
    onLoadedMetadata: () => length(media.current!.duration),
    onTimeUpdate: () => {
      moved(media.current!.currentTime);
      at(media.current!.currentTime);
    },
  } as const;
  return video ? (
    <video ref={media as RefObject<HTMLVideoElement>} class="film" playsInline {...all} />
  ) : (
    <audio ref={media as RefObject<HTMLAudioElement>} class="sound" {...all} />
  );
}

// Peaks is the outline of a recording: the loudest sample, 0 to 1, of each of equally long parts.
export interface Peaks {
  seconds: number;
  values: Float32Array;
}

// Longer recordings have no outline: half an hour takes 60 MB of memory for a moment.
const longest = 30 * 60,
  rateHz = 8000,
  parts = 1200;

// usePeaks decodes a local recording of known length for its outline.
export function usePeaks(file: File | undefined, seconds: number | undefined): Peaks | undefined {
  const [peaks, setPeaks] = useState<Peaks>();
  useEffect(() => {
    if (!file || !seconds || seconds > longest) return;
    let gone = false;
    const decode = async () => {
      const sound = await new OfflineAudioContext(1, 1, rateHz).decodeAudioData(await file.arrayBuffer());
      const samples = sound.getChannelData(0),
        values = new Float32Array(parts);
      for (let i = 0; i < samples.length; i++) {
        const part = Math.floor((i * parts) / samples.length);
        values[part] = Math.max(values[part]!, Math.abs(samples[i]!));
      }
      if (!gone) setPeaks({ seconds: sound.duration, values });
    };
    decode().catch(() => {}); // a kind of sound that this browser cannot read
    return () => {
      gone = true;
    };
  }, [file, seconds]);
  return peaks;
}
