// The socket of a chat with the published JavaScript client. Each received message must match
// the client's own schema of its type.
"use strict";
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { serialization } = createRequire(process.env.CLIENT + "/client.cjs")("hume");

// The schema of each type of message.
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

// open opens a chat through a client.
function open(by, args) {
	return withQueue(by.chat.connect({ reconnectAttempts: 1, ...args }));
}

// withQueue adds three functions to a socket. until(type) waits for the next message of a type and
// returns the messages up to it; it fails at an unexpected error or end. within(ms) returns the messages
// of the next ms milliseconds. played() waits until all received sound was played: only then does the
// text count as spoken.
function withQueue(socket) {
	const received = [];
	let wake = () => {},
		playbackEnd = 0;
	const add = (m) => {
		if (m.type === "audio_output")
			playbackEnd = Math.max(playbackEnd, Date.now()) + Buffer.from(m.data, "base64").length / 96; // bytes a ms
		if (m.type === "user_interruption") playbackEnd = 0;
		received.push(m);
		wake();
	};
	socket.socket.addEventListener("message", ({ data }) => {
		const raw = JSON.parse(data);
		const parsed = serialization.empathicVoice[schemas[raw.type]]?.parse(raw, { unrecognizedObjectKeys: "fail" });
		if (!parsed?.ok) add({ type: "misfit", raw, errors: parsed?.errors });
	});
	socket.on("message", add);
	socket.on("error", (err) => add({ type: "broken", err }));
	socket.on("close", (e) => add({ type: "close", code: e.code, reason: e.reason }));
	socket.until = async (type, ms = 300_000) => {
		// a ten-second answer takes minutes on busy cores
		const messages = [];
		const patience = setTimeout(() => add({ type: "silence" }), ms);
		for (;;) {
			while (received.length === 0)
				await new Promise((awake) => {
					wake = awake;
				});
			const m = received.shift();
			messages.push(m);
			if (m.type === type) break;
			assert.ok(m.type in schemas && m.type !== "error", `waiting for ${type}: ${JSON.stringify(m)}`);
		}
		clearTimeout(patience);
		return messages;
	};
	socket.within = async (ms) => {
		await new Promise((awake) => setTimeout(awake, ms));
		return received.splice(0);
	};
	socket.played = () => new Promise((awake) => setTimeout(awake, Math.max(0, playbackEnd - Date.now()) + 300));
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

module.exports = { open, speak, withQueue };
