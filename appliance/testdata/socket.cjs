// The socket of a chat with the published JavaScript client. Each of its messages must match the
// client's own schema of its type.
"use strict";
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { serialization } = createRequire(process.env.CLIENT + "/client.cjs")("hume");

// The schema of each message of a socket.
const schemas = {
	assistant_end: "AssistantEnd",
	assistant_message: "AssistantMessage",
	assistant_prosody: "AssistantProsody",
	audio_output: "AudioOutput",
	chat_metadata: "ChatMetadata",
	error: "WebSocketError",
	session_settings: "SessionSettings",
	tool_call: "ToolCallMessage",
	tool_error: "ToolErrorMessage",
	tool_response: "ToolResponseMessage",
	user_interruption: "UserInterruption",
	user_message: "UserMessage",
};

// open opens a chat with a client.
function open(by, args) {
	return heard(by.chat.connect({ reconnectAttempts: 1, ...args }));
}

// heard returns a socket with until(type), which waits for the next message of that type and
// returns the messages up to it; errors and the end may come only where they are expected.
// within(ms) returns the messages of that time, and played() waits until all received sound was
// played: only then does the text count as spoken.
function heard(socket) {
	const came = [];
	let look = () => {},
		over = 0;
	const put = (m) => {
		if (m.type === "audio_output") over = Math.max(over, Date.now()) + Buffer.from(m.data, "base64").length / 96; // bytes a ms
		if (m.type === "user_interruption") over = 0;
		came.push(m);
		look();
	};
	socket.socket.addEventListener("message", ({ data }) => {
		const raw = JSON.parse(data);
		const read = serialization.empathicVoice[schemas[raw.type]]?.parse(raw, { unrecognizedObjectKeys: "fail" });
		if (!read?.ok) put({ type: "misfit", raw, errors: read?.errors });
	});
	socket.on("message", put);
	socket.on("error", (err) => put({ type: "broken", err }));
	socket.on("close", (e) => put({ type: "close", code: e.code, reason: e.reason }));
	socket.until = async (type, ms = 300_000) => {
		// an answer of ten seconds takes minutes where others have the cores
		const read = [];
		const patience = setTimeout(() => put({ type: "silence" }), ms);
		for (;;) {
			while (came.length === 0)
				await new Promise((awake) => {
					look = awake;
				});
			const m = came.shift();
			read.push(m);
			if (m.type === type) break;
			assert.ok(m.type in schemas && m.type !== "error", `waiting for ${type}: ${JSON.stringify(m)}`);
		}
		clearTimeout(patience);
		return read;
	};
	socket.within = async (ms) => {
		await new Promise((awake) => setTimeout(awake, ms));
		return came.splice(0);
	};
	socket.played = () => new Promise((awake) => setTimeout(awake, Math.max(0, over - Date.now()) + 300));
	return socket;
}

// speak sends a person's question and then silence, in real time.
async function speak(send) {
	const sound = Buffer.concat([readFileSync(process.env.QUESTION).subarray(44), Buffer.alloc(2 * 8000 * 2)]);
	for (let i = 0; i < sound.length; i += 1600) {
		send(sound.subarray(i, i + 1600));
		await new Promise((next) => setTimeout(next, 100));
	}
}

module.exports = { heard, open, speak };
