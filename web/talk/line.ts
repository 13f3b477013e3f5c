import type { ClientMessage, ServerMessage } from "../wire";

// Access is how a page authenticates: the key of a screen, or null for the console's session, and the other query
// parameters of the chat (config_id, voice_id, …).
export interface Access {
  key: string | null;
  query: Record<string, string>;
}

// asked returns the query of a chat. For a WebSocket, which cannot send headers, the query contains the key.
export function asked(access: Access, keyToo: boolean): string {
  const q = new URLSearchParams({ verbose_transcription: "true", ...access.query });
  if (keyToo && access.key !== null) q.set("api_key", access.key);
  return q.toString();
}

// Line connects a conversation to the box: by WebRTC, or by WebSocket where WebRTC does not work.
export interface Line {
  readonly by: "WebRTC" | "WebSocket";
  send(message: ClientMessage): void;
  // loudness of the assistant and of the microphone, 0 to 1
  heard(): number;
  said(): number;
  hangUp(): void;
}

export interface Events {
  message(m: ServerMessage): void;
  over(code: number, reason: string): void;
  // the connection was lost, or restored and the conversation continues
  lost?(yes: boolean): void;
}

// A Refusal is an answer of the box that another kind of connection would not change.
export class Refusal extends Error {
  constructor(
    readonly status: number,
    said: string,
  ) {
    super(said);
  }
}

// Meter measures the perceived loudness of a stream: 0 is silence, 1 is a voice nearby.
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
