import type { ReturnVoice } from "../../rest";
import { answer } from "../api";

// spoken synthesizes a text with a voice and returns the sound.
export async function spoken(text: string, voice: ReturnVoice, signal: AbortSignal): Promise<Blob> {
  const res = await answer("POST", "/v0/tts/stream/file", {
    signal,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      utterances: [{ text, voice: { id: voice.id, provider: voice.provider } }],
      format: { type: "mp3" },
    }),
  });
  return res.blob();
}

// tagged returns the values of one tag of a voice.
export const tagged = (v: ReturnVoice, tag: string) => (v.tags as Record<string, string[]> | undefined)?.[tag] ?? [];
