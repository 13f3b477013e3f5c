// Apps for the former cloud service, with the published clients of their time. The clients have no setting
// for the address, so they dial api.hume.ai, which the private network of the test maps to a box
// (cloud_host_test.go). The box's model follows a script (scripted_model_test.go). Prints a line
// for each check that passes, and "done"; exits with 1 if one fails.
"use strict";
const assert = require("node:assert/strict");
const { createRequire } = require("node:module");
const { HUME_API_KEY, HUME_SECRET_KEY, CLIENT } = process.env;
const installed = createRequire(CLIENT + "/client.cjs");

// The library voices in examples of that time. Two of them have a fast stand-in, which speaks most
// of the texts.
const chatVoice = "ITO",
	fileVoice = "Male English Actor",
	socketVoice = "Ava Song";

// listed returns all items of a list call. Later clients iterate over the pages by themselves; hume
// 0.9 returns some lists page by page.
async function listed(call, ask = {}) {
	const all = [];
	const first = await call({ ...ask, pageNumber: 0 });
	if (first[Symbol.asyncIterator]) {
		for await (const item of first) all.push(item);
		return all;
	}
	for (let n = 0, page = first; ; page = await call({ ...ask, pageNumber: ++n })) {
		all.push(...Object.values(page).find(Array.isArray));
		if (n + 1 >= page.totalPages) return all;
	}
}

// bytes returns the content of a received file, for each kind of stream that the clients use.
async function bytes(file) {
	if (file.arrayBuffer) return Buffer.from(await file.arrayBuffer());
	const pieces = [];
	for await (const piece of file) pieces.push(piece);
	return Buffer.concat(pieces);
}

// follow records the messages of a socket. until(type) returns the messages up to the next one of a
// type. played() waits until all sound was played: only then does the text count as spoken.
function follow(socket) {
	const received = [];
	let wake = () => {},
		playbackEnd = 0;
	const add = (m) => {
		if (m.type === "audio_output")
			playbackEnd = Math.max(playbackEnd, Date.now()) + Buffer.from(m.data, "base64").length / 96; // bytes a ms
		received.push(m);
		wake();
	};
	socket.on("message", add);
	socket.on("error", (err) => add({ type: "failed", err }));
	socket.on("close", ({ code }) => add({ type: "closed", code }));
	return {
		played: () => new Promise((awake) => setTimeout(awake, Math.max(0, playbackEnd - Date.now()) + 300)),
		until: async (type) => {
			const messages = [];
			do {
				while (received.length === 0)
					await new Promise((awake) => {
						wake = awake;
					});
				messages.push(received.shift());
				assert.ok(
					!["failed", "closed", "error"].includes(messages.at(-1).type),
					`waiting for ${type}: ${JSON.stringify(messages.at(-1))} ${messages.at(-1).err}`,
				);
			} while (messages.at(-1).type !== type);
			return messages;
		},
	};
}
const said = (messages) =>
	messages
		.filter((m) => m.type === "assistant_message")
		.map((m) => m.message.content)
		.join(" ");

async function makeConfig(evi) {
	const tool = await evi.tools.createTool({
		name: "switch_lamp",
		parameters: '{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}',
	});
	const prompt = await evi.prompts.createPrompt({ name: "desk", text: "You work at the desk." });
	const config = await evi.configs.createConfig({
		name: "desk",
		eviVersion: "3",
		prompt: { id: prompt.id, version: prompt.version },
		voice: { provider: "HUME_AI", name: chatVoice },
		languageModel: { modelProvider: "ANTHROPIC", modelResource: "claude-3-5-sonnet-latest", temperature: 1 },
		tools: [{ id: tool.id, version: 0 }],
		eventMessages: {
			onNewChat: { enabled: false, text: "" },
			onInactivityTimeout: { enabled: false, text: "" },
			onMaxDurationTimeout: { enabled: false, text: "" },
		},
	});
	assert.deepEqual(
		[config.voice.provider, config.prompt.text, config.tools[0].name],
		["HUME_AI", "You work at the desk.", "switch_lamp"],
	);
	assert.ok((await listed((ask) => evi.configs.listConfigs(ask), { pageSize: 1 })).some((c) => c.id === config.id));
	return config;
}

// chat sends two messages, answers a tool call, and changes the session's settings.
async function chat(evi, config) {
	const socket = evi.chat.connect({ configId: config.id, configVersion: config.version, verboseTranscription: true });
	const app = follow(socket);
	const [metadata] = await app.until("chat_metadata");
	socket.sendSessionSettings({
		systemPrompt: "Be brief.",
		customSessionId: "mine",
		audio: { encoding: "linear16", sampleRate: 16000, channels: 1 },
	});
	socket.sendUserInput("Good morning.");
	const first = await app.until("assistant_end");
	assert.equal(said(first), "You said: Good morning.");
	const user = first.find((m) => m.type === "user_message"),
		assistant = first.find((m) => m.type === "assistant_message");
	assert.deepEqual(
		[user.message.role, user.message.content, user.fromText, user.customSessionId],
		["user", "Good morning.", true, "mine"],
	);
	assert.deepEqual([assistant.message.role, assistant.fromText], ["assistant", false]);
	const clips = first.filter((m) => m.type === "audio_output");
	assert.ok(
		clips.length > 0 && clips.every((m) => Buffer.from(m.data, "base64").subarray(0, 4).toString() === "RIFF"),
	);
	await app.played();

	socket.sendUserInput("Switch the lamp on.");
	const call = (await app.until("tool_call")).at(-1);
	assert.deepEqual(
		[call.name, JSON.parse(call.parameters), call.responseRequired],
		["switch_lamp", { on: true }, true],
	);
	socket.sendToolResponseMessage({ toolCallId: call.toolCallId, content: "It is on." });
	assert.equal(said(await app.until("assistant_end")), "The tool says: It is on.");
	await app.played();
	socket.close();
	return metadata;
}

// history fetches the chat, a few events per page.
async function history(evi, { chatId, chatGroupId }) {
	const chats = await listed((ask) => evi.chats.listChats(ask), { pageSize: 2, ascendingOrder: false });
	assert.ok(chats.some((c) => c.id === chatId && c.chatGroupId === chatGroupId));
	const groups = await listed((ask) => evi.chatGroups.listChatGroups(ask), { pageSize: 2, ascendingOrder: true });
	assert.ok(groups.some((g) => g.id === chatGroupId && g.mostRecentChatId === chatId));
	assert.deepEqual(
		(await evi.chatGroups.getChatGroup(chatGroupId, {})).chatsPage.map((c) => c.id),
		[chatId],
	);
	for (const events of [
		await listed((ask) => evi.chats.listChatEvents(chatId, ask), { pageSize: 3, ascendingOrder: true }),
		await listed((ask) => evi.chatGroups.listChatGroupEvents(chatGroupId, ask), {
			pageSize: 3,
			ascendingOrder: true,
		}),
	]) {
		const shown = events.filter((e) =>
			["USER_MESSAGE", "AGENT_MESSAGE", "FUNCTION_CALL", "FUNCTION_CALL_RESPONSE"].includes(e.type),
		);
		assert.equal(
			shown.map((e) => e.messageText).join(" "),
			'Good morning. You said: Good morning. Switch the lamp on. {"on":true} It is on. The tool says: It is on.',
		);
	}
}

// speak makes every speech call of the client.
async function speak(tts, version) {
	const utterances = [{ text: "All is well.", description: "calm", voice: { name: fileVoice, provider: "HUME_AI" } }];
	const isWAV = (sound) =>
		assert.ok(sound.subarray(0, 4).toString() === "RIFF" && sound.length > 20_000, `${sound.length} bytes`);
	const ask = { utterances, format: { type: "wav" }, numGenerations: 1 };
	// Only version 0.11 wraps this request in a body.
	const made = await tts.synthesizeJson(version === "hume-0.11" ? { body: ask } : ask);
	const [generation] = made.generations;
	isWAV(Buffer.from(generation.audio, "base64"));
	assert.ok(generation.duration > 0.3 && generation.snippets[0][0].text === "All is well.");
	isWAV(
		await bytes(
			await tts.synthesizeFile({
				utterances,
				format: { type: "wav" },
				context: { generationId: generation.generationId },
			}),
		),
	);
	isWAV(await bytes(await tts.synthesizeFileStreaming({ utterances, format: { type: "wav" } })));
	const chunks = [];
	for await (const chunk of await tts.synthesizeJsonStreaming({ utterances })) chunks.push(chunk);
	assert.ok(chunks.length > 0 && chunks.at(-1).isLastChunk && chunks.every((c) => c.audio && c.generationId));

	const name = `Doorman ${chunks[0].generationId}`;
	const voice = await tts.voices.create({ generationId: generation.generationId, name });
	assert.ok(
		(await listed((ask) => tts.voices.list(ask), { provider: "CUSTOM_VOICE", pageSize: 1 })).some(
			(v) => v.id === voice.id,
		),
	);
	assert.ok((await listed((ask) => tts.voices.list(ask), { provider: "HUME_AI", pageSize: 10 })).length > 0);
	isWAV(
		await bytes(
			await tts.synthesizeFile({
				utterances: [{ text: "All is well.", voice: { name, provider: "CUSTOM_VOICE" } }],
				format: { type: "wav" },
			}),
		),
	);
	await tts.voices.delete({ name });
}

// speakOverSocket speaks as apps did before their client supported the socket. Each message must be
// a chunk, by the client's own schema.
async function speakOverSocket(schemas) {
	const WebSocket = installed("ws");
	const socket = new WebSocket(
		`wss://api.hume.ai/v0/tts/stream/input?api_key=${HUME_API_KEY}` +
			"&no_binary=true&instant_mode=true&format_type=pcm",
	);
	const chunks = [];
	socket.onmessage = ({ data }) =>
		chunks.push(
			schemas.tts.SnippetAudioChunk.parseOrThrow(JSON.parse(data), { unrecognizedObjectKeys: "passthrough" }),
		);
	const closed = new Promise((resolve, reject) => {
		socket.onclose = resolve;
		socket.onerror = reject;
	});
	await new Promise((open) => {
		socket.onopen = open;
	});
	for (const text of ["Hello world.", "Goodbye, world."]) {
		socket.send(JSON.stringify({ text, voice: { name: socketVoice, provider: "HUME_AI" } }));
		socket.send(JSON.stringify({ flush: true }));
	}
	socket.send(JSON.stringify({ close: true }));
	await closed;
	assert.deepEqual(
		chunks.filter((c) => c.isLastChunk).map((c) => c.text),
		["Hello world.", "Goodbye, world."],
	);
	assert.ok(chunks.reduce((n, c) => n + c.audio.length, 0) > 50_000);
}

async function law(name, run) {
	try {
		const result = await run();
		console.log(`ok ${name}`);
		return result;
	} catch (err) {
		throw new Error(name, { cause: err });
	}
}

async function app(version) {
	const { HumeClient, fetchAccessToken } = installed(version);
	const { empathicVoice: evi, tts } = new HumeClient({ apiKey: HUME_API_KEY });
	const config = await law(`${version}: a config is created`, () => makeConfig(evi));
	const accessToken = await fetchAccessToken({ apiKey: HUME_API_KEY, secretKey: HUME_SECRET_KEY });
	const metadata = await law(`${version}: a typed chat with a tool`, () =>
		chat(new HumeClient({ accessToken }).empathicVoice, config),
	);
	await law(`${version}: its history`, () => history(evi, metadata));
	await law(`${version}: speech`, () => speak(tts, version));
}

// aiSDK speaks as the examples of the AI SDK do, with its default voice.
async function aiSDK() {
	const { experimental_generateSpeech: generateSpeech } = installed("ai");
	const { createHume } = installed("@ai-sdk/hume");
	const hume = createHume({ apiKey: HUME_API_KEY });
	for (const outputFormat of ["mp3", "wav"]) {
		const { audio, warnings } = await generateSpeech({
			model: hume.speech(),
			text: "Hello from the AI SDK.",
			instructions: "Speak slowly.",
			outputFormat,
		});
		assert.ok(audio.uint8Array.length > 5_000 && warnings.length === 0);
		assert.equal(audio.mediaType, outputFormat === "mp3" ? "audio/mpeg" : "audio/wav");
	}
}

async function main() {
	const versions = ["hume-0.9", "hume-0.11", "hume-0.13", "hume"];
	const ended = await Promise.allSettled([
		...versions.map(app),
		law("a bare socket speaks", () => speakOverSocket(installed("hume-0.13/serialization"))),
		law("the AI SDK speaks", aiSDK),
	]);
	const failed = ended.filter((e) => e.reason).map((e) => e.reason);
	if (failed.length > 0) throw new AggregateError(failed);
	console.log("done");
}

main().then(
	() => process.exit(0),
	(err) => {
		console.error(err);
		process.exit(1);
	},
);
