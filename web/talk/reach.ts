import { call } from "./call";
import { type Access, type Events, type Line, Refusal } from "./line";
import { socket } from "./socket";

// reach begins a conversation: by WebRTC, whose voices the browser cancels the
// echo of, and by a socket where no call finds its way. What the box refuses by
// one way it would refuse by the other, but that it takes no calls (503).
export function reach(
  access: Access,
  microphone: MediaStream | null,
  context: AudioContext,
  on: Events,
): Promise<Line> {
  return call(access, microphone, context, on).catch((err) => {
    if (err instanceof Refusal && err.status !== 503) throw err;
    // A socket that is refused does not say why: what the call was told holds.
    return socket(access, microphone, context, on).catch((none) => {
      throw err instanceof Refusal ? err : none;
    });
  });
}
