// The same page with version 0.1 of the hook.
import { createRoot } from "react-dom/client";
import { useVoice, VoiceProvider } from "voice-react-0.1";
import { query, seen } from "./former.js";

function Talk() {
	const voice = useVoice();
	window.voice = voice; // of the latest rendering
	return <button onClick={() => voice.connect()}>{voice.status.value}</button>;
}

createRoot(document.getElementById("root")).render(
	<VoiceProvider auth={{ type: "accessToken", value: query.get("token") }} configId={query.get("config")} {...seen}>
		<Talk />
	</VoiceProvider>,
);
