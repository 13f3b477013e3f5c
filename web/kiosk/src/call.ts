import { type Events, type Line, Meter, Refusal } from "./line";

// How long a connection may take before the socket is tried: on a network that
// lets calls through it takes a tenth of a second.
const patienceMS = 4000;

// call talks to the box by WebRTC.
export async function call(key: string, microphone: MediaStream | null, context: AudioContext, on: Events): Promise<Line> {
  const peer = new RTCPeerConnection();
  const chat = peer.createDataChannel("chat");
  const sound = document.createElement("audio");
  sound.autoplay = true;
  let heard: Meter | undefined;
  let ended = false, where = "";
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
    if (peer.connectionState === "disconnected") void restart();
  };
  const headers = (type: string) => ({ "content-type": type, "x-service-api-key": key });
  // A change of networks: the same call goes on over another.
  const restart = async () => {
    if (!where || ended) return;
    await peer.setLocalDescription(await peer.createOffer({ iceRestart: true }));
    const answer = await fetch(where, { method: "PATCH", headers: headers("application/sdp"), body: peer.localDescription!.sdp }).catch(() => null);
    if (answer?.ok) await peer.setRemoteDescription({ type: "answer", sdp: await answer.text() });
  };

  const opened = new Promise<void>((opens, fails) => {
    chat.onopen = () => opens();
    setTimeout(() => fails(new Error("no way to the box by WebRTC")), patienceMS);
  });
  opened.catch(() => {});
  try {
    await peer.setLocalDescription();
    const answer = await fetch("/v0/evi/chat/webrtc?verbose_transcription=true", { method: "POST", headers: headers("application/sdp"), body: peer.localDescription!.sdp });
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
    send: (m) => { if (chat.readyState === "open") chat.send(JSON.stringify(m)); },
    heard: () => heard?.level() ?? 0,
    said: () => said?.level() ?? 0,
    hangUp: () => {
      if (!ended && where) void fetch(where, { method: "DELETE", headers: headers("application/sdp"), keepalive: true }).catch(() => {});
      end(1000, "");
    },
  };
}
