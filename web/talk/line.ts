import type { ClientMessage, ServerMessage } from "../wire";

// With what a page talks: the key of a screen, or null where the console's session
// speaks for it, and what else the chat is asked for (config_id, voice_id, …).
export interface Access {
  key: string | null;
  query: Record<string, string>;
}

// asked is the query of a chat; a socket, which takes no headers, has the key in it.
export function asked(access: Access, keyToo: boolean): string {
  const q = new URLSearchParams({ verbose_transcription: "true", ...access.query });
  if (keyToo && access.key !== null) q.set("api_key", access.key);
  return q.toString();
}

// How a conversation reaches the box: by WebRTC, or by a socket where that finds
// no way.
export interface Line {
  readonly by: "WebRTC" | "WebSocket";
  send(message: ClientMessage): void;
  // loudness of what the assistant says and of what the microphone hears, 0 to 1
  heard(): number;
  said(): number;
  hangUp(): void;
}

export interface Events {
  message(m: ServerMessage): void;
  over(code: number, reason: string): void;
  // the way to the box is lost, or found again, and the conversation goes on if it is
  lost?(yes: boolean): void;
}

// A refusal is the box's own word, which asking again by other means does not change.
export class Refusal extends Error {
  constructor(
    readonly status: number,
    said: string,
  ) {
    super(said);
  }
}

// Meter tells how loud a stream is, as the ear takes it: 0 is silence, 1 is a
// voice close by.
export class Meter {
  private readonly node: AnalyserNode;
  private readonly pcm: Float32Array<ArrayBuffer>;
  constructor(context: AudioContext, source: AudioNode) {
    this.node = context.createAnalyser();
    this.node.fftSize = 1024;
    this.pcm = new Float32Array(this.node.fftSize);
    source.connect(this.node);
  }
  level(): number {
    this.node.getFloatTimeDomainData(this.pcm);
    let sum = 0;
    for (const v of this.pcm) sum += v * v;
    const db = 10 * Math.log10(sum / this.pcm.length + 1e-10);
    return Math.min(1, Math.max(0, (db + 55) / 40)); // -55 dB to -15 dB
  }
}
