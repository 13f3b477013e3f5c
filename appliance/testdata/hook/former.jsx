// A page as apps of the service that ended have it, with versions 0.2 and 0.3 of the
// React hook: it is told no address. What the hook was told is in window.seen.
import { createRoot } from "react-dom/client";
import { useVoice, VoiceProvider } from "@humeai/voice-react";
import { query, seen } from "./former.js";

function Talk() {
	const voice = useVoice();
	window.voice = voice; // of the newest rendering
	return <button onClick={() => voice.connect({ auth: { type: "accessToken", value: query.get("token") }, configId: query.get("config") })}>{voice.status.value}</button>;
}

createRoot(document.getElementById("root")).render(
	<VoiceProvider enableAudioWorklet={false} {...seen}><Talk /></VoiceProvider>,
);
