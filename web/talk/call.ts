import { type Access, type Events, type Line, Meter, Refusal, asked } from "./line";

// How long a WebRTC connection may take before the WebSocket is tried. On a network that allows WebRTC it takes a tenth
// of a second.
const patienceMS = 4000;

// How long a reconnection may take before it is tried again.
const restartMS = 2000;

// call connects to the box by WebRTC.
export async function call(
  access: Access,
  microphone: MediaStream | null,
  context: AudioContext,
  on: Events,
): Promise<Line> {
  const peer = new RTCPeerConnection();
  const chat = peer.createDataChannel("chat");
  const sound = document.createElement("audio");
  sound.autoplay = true;
  let heard: Meter | undefined;
  let ended = false,
    where = "";
  const end = (code: number, reason: string) => {
    if (ended) return;
    ended = true;
    peer.close();
    sound.srcObject = null;
    on.over(code, reason);
  };
  if (microphone) for (const track of microphone.getAudioTracks()) peer.addTrack(track, microphone);
  else peer.addTransceiver("audio", { direction: "recvonly" });
  peer.ontrack = ({ track }) => {
    const stream = new MediaStream([track]);
    sound.srcObject = stream;
    heard = new Meter(context, context.createMediaStreamSource(stream));
  };
  chat.onmessage = ({ data }) => {
    const m = JSON.parse(data);
    if (m.type === "call_ended") end(m.code, m.reason);
    else on.message(m);
  };
  chat.onclose = () => end(1006, "");
  peer.onconnectionstatechange = () => {
    if (peer.connectionState === "failed" || peer.connectionState === "closed") end(1006, "");
    if (peer.connectionState === "connected") on.lost?.(false);
    if (peer.connectionState === "disconnected") {
      on.lost?.(true);
      void restart();
    }
  };
  const headers = (type: string): Record<string, string> =>
    access.key === null ? { "content-type": type } : { "content-type": type, "x-service-api-key": access.key };
  // After a change of networks the same call continues over the new one. The box waits for that as long as the
  // browser does.
  let restarting = false;
  const restart = async () => {
    if (restarting) return;
    restarting = true;
    while (where && !ended && peer.connectionState === "disconnected") {
      await peer.setLocalDescription(await peer.createOffer({ iceRestart: true }));
      const answer = await fetch(where, {
        method: "PATCH",
        headers: headers("application/sdp"),
        body: peer.localDescription!.sdp,
      }).catch(() => null);
      if (answer?.ok) await peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
      else if (answer && answer.status < 500 && answer.status !== 429)
        // the box has ended the call
        return end(answer.status === 401 ? 1008 : 1006, answer.status === 401 ? "key_revoked" : "");
      await new Promise((again) => setTimeout(again, restartMS));
    }
    restarting = false;
  };

  const opened = new Promise<void>((opens, fails) => {
    chat.onopen = () => opens();
    setTimeout(() => fails(new Error("cannot reach the box by WebRTC")), patienceMS);
  });
  opened.catch(() => {});
  try {
    await peer.setLocalDescription();
    const answer = await fetch(`/v0/evi/chat/webrtc?${asked(access, false)}`, {
      method: "POST",
      headers: headers("application/sdp"),
      body: peer.localDescription!.sdp,
    });
    if (!answer.ok) throw new Refusal(answer.status, await answer.text());
    where = answer.headers.get("location") ?? "";
    await peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
    await opened;
  } catch (err) {
    ended = true;
    peer.close();
    if (where) void fetch(where, { method: "DELETE", headers: headers("application/sdp") }).catch(() => {});
    throw err;
  }
  const said = microphone && new Meter(context, context.createMediaStreamSource(microphone));
  return {
    by: "WebRTC",
    send: (m) => {
      if (chat.readyState === "open") chat.send(JSON.stringify(m));
    },
    heard: () => heard?.level() ?? 0,
    said: () => said?.level() ?? 0,
    hangUp: () => {
      if (!ended && where)
        void fetch(where, { method: "DELETE", headers: headers("application/sdp"), keepalive: true }).catch(() => {});
      end(1000, "");
    },
  };
}
