// Talks to a box with the published JavaScript client as an app does: a recording as raw samples
// and as a browser's WebM, interruptions, tools that answer and fail, pauses, the memory of a chat
// group, its history, and a restart of the box. The box's model follows a script
// (scripted_model_test.go). Each message must match the client's own schemas, strictly. Prints a
// line for each check that passes, and exits with 1 at the first that fails.
"use strict";
const assert = require("node:assert/strict");
const { readFileSync } = require("node:fs");
const { createRequire } = require("node:module");
const { BOX_URL, API_KEY, CLIENT, WEBM } = process.env;
const { HumeClient, serialization } = createRequire(CLIENT + "/client.cjs")("hume");
const { open, speak } = require("./socket.cjs");

let last; // the text of the last response
const recordingFetch = async (url, init) => {
	const answer = await fetch(url, init);
	last = await answer.clone().text();
	return answer;
};
const box = new HumeClient({ environment: BOX_URL, apiKey: API_KEY, fetch: recordingFetch }).empathicVoice;
const sleep = (ms) => new Promise((awake) => setTimeout(awake, ms));
const linear16 = { audio: { encoding: "linear16", sampleRate: 8000, channels: 1 } };
const recordedWords = /tone.*name.*pound key/i; // words of the recording

const said = (messages) =>
	messages
		.filter((m) => m.type === "assistant_message")
		.map((m) => m.message.content)
		.join(" ");
const types = (messages) => messages.map((m) => m.type);
const listed = (messages) =>
	messages
		.map((m) =>
			[m.type, m.id, m.index, m.message?.content, m.receivedAt?.getTime()]
				.filter((x) => x !== undefined)
				.join(" "),
		)
		.join("\n");
const finalOf = (messages) => messages.find((m) => m.type === "user_message" && !m.interim);

// quiet checks that only messages of the allowed types arrive within ms milliseconds.
async function quiet(socket, ms, ...allowed) {
	const received = await socket.within(ms);
	assert.deepEqual(
		types(received).filter((t) => !allowed.includes(t)),
		[],
	);
	return received;
}

// checkTurn checks the messages of an assistant's turn that was not interrupted.
function checkTurn(messages) {
	const next = {};
	for (const m of messages) {
		if (m.type === "assistant_message") next[m.id] = 0;
		if (m.type !== "audio_output") continue;
		assert.equal(m.index, next[m.id]++, "a clip out of order, or before its message");
		const wav = Buffer.from(m.data, "base64");
		assert.deepEqual(
			[wav.toString("latin1", 0, 4), wav.readUInt32LE(24), wav.readUInt16LE(22), wav.readUInt16LE(34)],
			["RIFF", 48000, 1, 16],
		);
	}
	assert.ok(Object.keys(next).length > 0 && Object.values(next).every((n) => n > 0), "a message without sound");
	assert.equal(types(messages).filter((t) => t === "assistant_end").length, 1);
}

async function makeConfig() {
	const press = await box.tools.createTool({
		name: "press_key",
		description: "Presses a key of the telephone.",
		parameters:
			'{"type":"object","properties":{"key":{"type":"string","enum":["pound","star"]}},"required":["key"]}',
	});
	const lamp = await box.tools.createTool({
		name: "switch_lamp",
		description: "Switches the lamp.",
		fallbackContent: "Nobody knows where the switch is.",
		parameters: '{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}',
	});
	const config = await box.configs.createConfig({
		name: "desk",
		eviVersion: "3",
		voice: { id: "f60ecf9e-ff1e-4bae-9206-dba7c653a69e" },
		prompt: { text: "You work at the desk." },
		tools: [{ id: press.id }, { id: lamp.id, version: 0 }],
		interruption: { minInterruptionMs: 400 },
	});
	assert.deepEqual(
		config.tools.map((t) => t.name),
		["press_key", "switch_lamp"],
	);
	return config;
}

async function aSpokenQuestionCallsATool(socket) {
	const speaking = speak((sound) => socket.sendAudioInput({ data: sound.toString("base64") }));
	const before = await socket.until("tool_call");
	const call = before.at(-1);
	assert.match(finalOf(before).message.content, recordedWords);
	assert.deepEqual([finalOf(before).fromText, said(before)], [false, ""]);
	const { begin, end } = finalOf(before).time;
	assert.ok(begin >= 0 && end - begin > 2_000 && end - begin < 6_000, `the question is at ${begin} to ${end} ms`);
	assert.deepEqual(
		[call.name, call.parameters, call.responseRequired, call.toolType],
		["press_key", '{"key":"pound"}', true, "function"],
	);
	socket.sendToolResponseMessage({ toolCallId: call.toolCallId, content: "Tell the story." });
	await speaking;
	const turn = await socket.until("audio_output");
	assert.match(said(turn), /^The key was made in a village/);
	return call;
}

async function aVoiceInterrupts(socket) {
	await sleep(1_500); // plays some of the story: unplayed text does not count as spoken
	const speaking = speak((sound) => socket.sendBinary(sound));
	const before = await socket.until("user_interruption");
	assert.ok(Math.abs(before.at(-1).time - Date.now()) < 5_000);
	const after = await socket.until("assistant_message");
	await speaking;
	assert.ok(
		after.every((m) => !["audio_output", "assistant_end", "tool_call"].includes(m.type)),
		`of the interrupted turn: ${listed([...before.slice(-5), ...after])}`,
	);
	assert.match(finalOf(after).message.content, recordedWords);
	assert.match(after.at(-1).message.content, /^You said: .*tone/i);
	checkTurn([after.at(-1), ...(await socket.until("assistant_end"))]);
}

async function toolErrorsAndLateAnswers(socket, first) {
	for (const [answer, says] of [
		[{ error: "no current", content: "The fuse is gone." }, "The tool says: The fuse is gone."],
		[{ error: "no current", code: "e1", level: "warn" }, "The tool says: Nobody knows where the switch is."],
	]) {
		await socket.played();
		socket.sendUserInput("Switch the lamp on.");
		const call = (await socket.until("tool_call")).at(-1);
		assert.equal(call.name, "switch_lamp");
		socket.sendToolErrorMessage({ toolCallId: call.toolCallId, ...answer });
		const turn = await socket.until("assistant_end");
		checkTurn(turn);
		assert.equal(said(turn), says);
	}
	socket.sendToolResponseMessage({ toolCallId: first.toolCallId, content: "late" });
	assert.equal((await socket.until("error")).at(-1).code, "E0731");
}

async function aToolIsAnsweredThroughTheControlPlane(socket, { chatId }) {
	await socket.played();
	socket.sendUserInput("And the lamp?");
	const call = (await socket.until("tool_call")).at(-1);
	await box.controlPlane.send(chatId, {
		type: "tool_response",
		toolCallId: call.toolCallId,
		content: "It is on now.",
	});
	const turn = await socket.until("assistant_end");
	assert.equal(said(turn), "The tool says: It is on now.");
}

async function pauseHoldsAnswers(socket) {
	await socket.played();
	socket.pauseAssistant();
	socket.sendUserInput("My name is Ada.");
	socket.sendUserInput("I live in Graz.");
	const received = await quiet(socket, 1_500, "user_message");
	assert.equal(received.length, 2);
	socket.sendAssistantInput({ text: "One moment." });
	const dictated = await socket.until("assistant_end");
	assert.deepEqual([said(dictated), dictated[0].fromText], ["One moment.", true]);
	await socket.played();
	socket.resumeAssistant();
	const turn = await socket.until("assistant_end");
	checkTurn(turn);
	assert.equal(said(turn), "You said: I live in Graz.");
	await socket.played(); // an interruption would remove the rest
	return turn;
}

async function browserAudioIsTranscribed() {
	const socket = open(box, { verboseTranscription: true });
	await socket.until("chat_metadata");
	const webm = readFileSync(WEBM);
	const each = Math.ceil(webm.length / 75); // 7.5 s
	const speaking = (async () => {
		for (let i = 0, n = 0; i < webm.length; i += each, n++) {
			const piece = webm.subarray(i, i + each);
			n % 2 ? socket.sendBinary(piece) : socket.sendAudioInput({ data: piece.toString("base64") });
			await sleep(100);
		}
	})();
	const turn = await socket.until("assistant_end");
	await speaking;
	checkTurn(turn);
	const words = turn.filter((m) => m.type === "user_message");
	assert.deepEqual(
		words.map((m) => m.interim),
		[...Array(words.length - 1).fill(true), false],
	); // a busy box sends no interim messages
	assert.match(finalOf(turn).message.content, recordedWords);
	socket.close();
}

async function aGroupIsResumed({ chatId, chatGroupId }, config) {
	const socket = open(box, { configId: config.id, resumedChatGroupId: chatGroupId });
	const [metadata] = await socket.until("chat_metadata");
	assert.equal(metadata.chatGroupId, chatGroupId);
	assert.notEqual(metadata.chatId, chatId);
	socket.sendUserInput("What do you remember?");
	const turn = await socket.until("assistant_end");
	for (const what of [
		recordedWords,
		/Tell the story/,
		/The fuse is gone/,
		/It is on now/,
		/My name is Ada/,
		/I live in Graz/,
	])
		assert.match(said(turn), what);
	const second = open(box, { resumedChatGroupId: chatGroupId, reconnectAttempts: 0 });
	assert.equal((await second.until("error")).at(-1).code, "E0717");
	assert.equal((await second.until("close")).at(-1).code, 1008);
	socket.close();
	const lost = open(box, { resumedChatGroupId: "00000000-0000-4000-8000-000000000000", reconnectAttempts: 0 });
	assert.equal((await lost.until("error")).at(-1).code, "E0708");
}

async function historyIsComplete({ chatId }, call) {
	const events = [];
	for await (const e of await box.chats.listChatEvents(chatId, { pageSize: 100, ascendingOrder: true }))
		events.push(e);
	const parsed = serialization.empathicVoice.ReturnChatPagedEvents.parse(JSON.parse(last), {
		unrecognizedObjectKeys: "fail",
	});
	assert.ok(parsed.ok, JSON.stringify(parsed.errors));
	const of = (type) => events.filter((e) => e.type === type);
	const calls = of("FUNCTION_CALL"),
		answers = of("FUNCTION_CALL_RESPONSE");
	const toolEvents = [...calls, ...answers].map((e) => JSON.parse(e.metadata));
	assert.deepEqual(
		toolEvents.map((m) => m.name),
		[..."01"].flatMap(() => ["press_key", "switch_lamp", "switch_lamp", "switch_lamp"]),
	);
	assert.deepEqual(
		toolEvents.slice(4).map((m) => m.tool_call_id),
		toolEvents.slice(0, 4).map((m) => m.tool_call_id),
	);
	assert.deepEqual(
		[toolEvents[0].tool_call_id, calls[0].messageText, calls[0].role, answers[0].role],
		[call.toolCallId, '{"key":"pound"}', "AGENT", "TOOL"],
	);
	assert.deepEqual(
		answers.map((e) => e.messageText),
		["Tell the story.", "The fuse is gone.", "Nobody knows where the switch is.", "It is on now."],
	);
	assert.deepEqual([of("USER_INTERRUPTION").length, of("PAUSE_ONSET").length, of("RESUME_ONSET").length], [1, 1, 1]);
	const spoken = of("AGENT_MESSAGE")
		.map((e) => e.messageText)
		.join(" ");
	assert.match(spoken, /^The key/);
	assert.doesNotMatch(spoken, /town hall/, "text that was not played counts as spoken");
}

// The client reconnects by itself when the box closes its socket. Its query resumes the chat group.
async function clientReconnects({ chatGroupId }) {
	const socket = open(box, { resumedChatGroupId: chatGroupId, reconnectAttempts: 30 });
	const [before] = await socket.until("chat_metadata");
	for (let i = 0; i < 10; i++) {
		// as many identical errors as the box accepts
		socket.sendToolResponseMessage({ toolCallId: "x", content: "y" });
		await socket.until("error");
	}
	assert.equal((await socket.until("close")).at(-1).code, 1008);
	const [after] = await socket.until("chat_metadata");
	assert.deepEqual([after.chatGroupId, after.chatId === before.chatId], [chatGroupId, false]);
	socket.close();
	await sleep(300);
}

// A failed handshake, as with a starting box, ends the client's reconnection attempts. So an app that
// must survive a restart opens another socket.
async function appReconnectsAfterARestart({ chatGroupId }) {
	let socket = open(box, { resumedChatGroupId: chatGroupId, reconnectAttempts: 0 });
	await socket.until("chat_metadata");
	console.log("restart the box");
	assert.equal((await socket.until("close")).at(-1).code, 1001);
	for (let received = []; !received.some((m) => m.type === "chat_metadata"); received = await socket.within(1_500)) {
		socket.close();
		socket = open(box, { resumedChatGroupId: chatGroupId, reconnectAttempts: 0 });
	}
	socket.sendUserInput("What do you remember?");
	assert.match(said(await socket.until("assistant_end")), /I live in Graz/);
	socket.close();
}

async function main() {
	const law = async (name, run) => {
		try {
			const result = await run();
			console.log(`ok ${name}`);
			return result;
		} catch (err) {
			throw new Error(name, { cause: err });
		}
	};
	const config = await law("a config with tools is made", makeConfig);
	const browser = law("a browser's audio is transcribed", browserAudioIsTranscribed);
	const socket = open(box, { configId: config.id, sessionSettings: linear16 });
	const [metadata] = await socket.until("chat_metadata");
	const call = await law("a spoken question calls a tool", () => aSpokenQuestionCallsATool(socket));
	await law("a voice interrupts", () => aVoiceInterrupts(socket));
	await browser;
	await law("tool errors and late answers are handled", () => toolErrorsAndLateAnswers(socket, call));
	await law("a tool is answered through the control plane", () =>
		aToolIsAnsweredThroughTheControlPlane(socket, metadata),
	);
	await law("a pause holds back answers", () => pauseHoldsAnswers(socket));
	socket.close();
	await sleep(300); // the box sees the end of a chat a moment after us
	await law("a group is resumed", () => aGroupIsResumed(metadata, config));
	await law("the history is complete", () => historyIsComplete(metadata, call));
	await law("the client reconnects", () => clientReconnects(metadata));
	await law("an app reconnects after a restart", () => appReconnectsAfterARestart(metadata));
	console.log("done");
}

main().then(
	() => process.exit(0),
	(err) => {
		console.error(err);
		process.exit(1);
	},
);
