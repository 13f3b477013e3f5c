// A page of an app for the former cloud service, with versions 0.2 and 0.3 of the React hook, which
// has no setting for the address. window.seen records the hook's callbacks.
import { createRoot } from "react-dom/client";
import { useVoice, VoiceProvider } from "@humeai/voice-react";
import { query, seen } from "./former.js";

function Talk() {
	const voice = useVoice();
	window.voice = voice; // of the latest rendering
	return (
		<button
			onClick={() =>
				voice.connect({
					auth: { type: "accessToken", value: query.get("token") },
					configId: query.get("config"),
				})
			}
		>
			{voice.status.value}
		</button>
	);
}

createRoot(document.getElementById("root")).render(
	<VoiceProvider enableAudioWorklet={false} {...seen}>
		<Talk />
	</VoiceProvider>,
);
