import { call } from "./call";
import { type Access, type Events, type Line, Refusal } from "./line";
import { socket } from "./socket";

// connect starts a conversation by WebRTC, where the browser cancels the echo of the assistant's voice, or by WebSocket
// when WebRTC does not connect. It does not retry a refusal by WebSocket, except for 503: the box takes no calls.
export function connect(
  access: Access,
  microphone: MediaStream | null,
  context: AudioContext,
  on: Events,
): Promise<Line> {
  return call(access, microphone, context, on).catch((err) => {
    if (err instanceof Refusal && err.status !== 503) throw err;
    // A refused WebSocket does not say why, so the refusal of the call is reported.
    return socket(access, microphone, context, on).catch((none) => {
      throw err instanceof Refusal ? err : none;
    });
  });
}
