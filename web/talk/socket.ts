import type { ServerMessage } from "../wire";
import { Clips } from "./clips";
import { type Access, type Events, type Line, Meter, asked } from "./line";

// How often the page pings the box, and how long the box may stay silent: a WebSocket does not report a lost network.
// The box drops a silent connection after 20 s.
const askMS = 3000,
  goneMS = 30_000;

// How much sound the recorder sends at a time.
const sliceMS = 100;

// socket connects to the box by WebSocket, for networks that block WebRTC.
export function socket(
  access: Access,
  microphone: MediaStream | null,
  context: AudioContext,
  on: Events,
): Promise<Line> {
  const scheme = location.protocol === "https:" ? "wss:" : "ws:";
  const ws = new WebSocket(`${scheme}//${location.host}/v0/evi/chat?${asked(access, true)}`);
  const recorder = microphone && new MediaRecorder(microphone);
  const clips = new Clips(context);
  const said = microphone && new Meter(context, context.createMediaStreamSource(microphone));
  const line: Line = {
    by: "WebSocket",
    send: (m) => {
      if (ws.readyState === WebSocket.OPEN) ws.send(JSON.stringify(m));
    },
    heard: () => clips.level(),
    said: () => said?.level() ?? 0,
    hangUp: () => over(1000, ""),
  };
  let begun = false,
    ended = false,
    away = 0,
    failed = (_: Error) => {};
  // over does not wait for the socket to close, which takes long without a network.
  const over = (code: number, reason: string) => {
    if (ended) return;
    ended = true;
    clearInterval(asking);
    if (recorder && recorder.state !== "inactive") recorder.stop();
    clips.stop();
    ws.close(1000);
    if (begun) on.over(code, reason);
    else failed(new Error(reason));
  };
  const asking = setInterval(async () => {
    const here = await there();
    if (ended) return;
    away = here ? 0 : away + askMS;
    on.lost?.(!here);
    if (away >= goneMS) over(1006, "");
  }, askMS);
  return new Promise((opens, fails) => {
    failed = fails;
    ws.onerror = () => fails(new Error("cannot reach the box by WebSocket"));
    ws.onclose = ({ code, reason }) => over(code, reason);
    if (recorder)
      recorder.ondataavailable = ({ data }) => {
        if (data.size > 0 && ws.readyState === WebSocket.OPEN) ws.send(data);
      };
    ws.onmessage = ({ data }) => {
      if (ended) return;
      const m = JSON.parse(data) as ServerMessage;
      if (!begun) {
        begun = true;
        recorder?.start(sliceMS);
        opens(line);
      }
      if (m.type === "audio_output") void clips.play(m.data);
      if (m.type === "user_interruption") clips.stop();
      on.message(m);
    };
  });
}

// there reports whether the box answers in time.
async function there(): Promise<boolean> {
  const patience = new AbortController(),
    timer = setTimeout(() => patience.abort(), askMS);
  const answers = await fetch("/healthz", { cache: "no-store", signal: patience.signal }).then(
    () => true,
    () => false,
  );
  clearTimeout(timer);
  return answers;
}
