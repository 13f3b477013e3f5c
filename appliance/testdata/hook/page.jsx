// A page that talks to a box with the published React hook, as an app's does. The page shows the
// state of the hook, and window.seen records its callbacks.
import { createRoot } from "react-dom/client";
import { useVoice, VoiceProvider } from "@humeai/voice-react";

const query = new URLSearchParams(location.search);
const seen = { calls: [], errors: [], starts: [], ends: [], interruptions: [], closes: [], messages: [] };
window.seen = seen;

// onToolCall answers press_key with a result, and any other tool with an error.
async function onToolCall(call, send) {
	seen.calls.push(call);
	if (call.name === "press_key") return send.success("Tell the story.");
	return send.error({ error: "no lamp", code: "no_lamp", level: "warn", content: "There is no lamp here." });
}

function words(message) {
	if (message.type === "session_settings") return JSON.stringify(message.sessionSettings);
	return message.message?.content ?? message.message ?? message.name ?? message.chatGroupId ?? message.code ?? "";
}

function Talk() {
	const voice = useVoice();
	window.voice = voice; // of the latest rendering
	return (
		<main>
			<h1>Talk to the box</h1>
			<p id="status">
				{voice.status.value} {voice.isPlaying ? "playing" : "silent"} {voice.playerQueueLength}{" "}
				{voice.isMuted ? "muted" : "listening"} {voice.isPaused ? "paused" : ""} {voice.callDurationTimestamp}
			</p>
			<p id="error">{voice.error?.message}</p>
			<button
				id="connect"
				onClick={() => {
					window.connecting = voice.connect(window.options);
				}}
			>
				Connect
			</button>
			<button id="mute" onClick={voice.isMuted ? voice.unmute : voice.mute}>
				Mute
			</button>
			<button id="pause" onClick={voice.isPaused ? voice.resumeAssistant : voice.pauseAssistant}>
				Pause
			</button>
			<button
				id="disconnect"
				onClick={() => {
					window.disconnecting = voice.disconnect();
				}}
			>
				Disconnect
			</button>
			<ol>
				{voice.messages.map((m, i) => (
					<li key={i}>
						<b>{m.type}</b> {words(m)}
					</li>
				))}
			</ol>
		</main>
	);
}

window.options = {
	auth: { type: "apiKey", value: query.get("key") },
	hostname: query.get("box"),
	configId: query.get("config"),
	audioConstraints: { echoCancellation: false, noiseSuppression: false, autoGainControl: false },
};
createRoot(document.getElementById("root")).render(
	// The worklet would be fetched from a host of the hook's vendor.
	<VoiceProvider
		enableAudioWorklet={false}
		clearMessagesOnDisconnect={false}
		onToolCall={onToolCall}
		onError={(e) => seen.errors.push(e)}
		onAudioStart={(id) => seen.starts.push(id)}
		onAudioEnd={(id) => seen.ends.push(id)}
		onInterruption={(m) => seen.interruptions.push(m.type)}
		onClose={(e) => seen.closes.push(e?.code)}
		onMessage={(m) => seen.messages.push(m)}
	>
		<Talk />
	</VoiceProvider>,
);
