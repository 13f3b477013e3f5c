import { Meter } from "./line";

// Clips plays the files of the assistant's voice one after the other.
export class Clips {
  private readonly out: GainNode;
  private readonly meter: Meter;
  private readonly playing = new Set<AudioBufferSourceNode>();
  private until = 0;
  private round = 0;
  private chain: Promise<void> = Promise.resolve();

  constructor(private readonly context: AudioContext) {
    this.out = context.createGain();
    this.out.connect(context.destination);
    this.meter = new Meter(context, this.out);
  }

  play(base64: string): Promise<void> {
    const round = this.round;
    const decoded = this.context.decodeAudioData(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer);
    this.chain = this.chain
      .then(async () => {
        const buffer = await decoded;
        if (round !== this.round) return;
        const source = this.context.createBufferSource();
        source.buffer = buffer;
        source.connect(this.out);
        this.until = Math.max(this.until, this.context.currentTime);
        source.start(this.until);
        this.until += buffer.duration;
        this.playing.add(source);
        source.onended = () => this.playing.delete(source);
      })
      .catch(() => {});
    return this.chain;
  }

  stop(): void {
    this.round++;
    this.until = 0;
    for (const source of this.playing) source.stop();
    this.playing.clear();
  }

  level(): number {
    return this.playing.size > 0 ? this.meter.level() : 0;
  }
}
