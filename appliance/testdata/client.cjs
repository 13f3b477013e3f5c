// Talks to a box with the published JavaScript client, as its users do: every call for configs,
// prompts, tools, chats, chat groups and tokens, and every message that a client can send in a chat. Each
// response must match the client's own schemas, strictly. Prints a line for each check that passes,
// and exits with 1 at the first that fails.
"use strict";
const assert = require("node:assert/strict");
const { createRequire } = require("node:module");
const { BOX_URL, API_KEY, SECRET_KEY, CLIENT } = process.env;
const { HumeClient, HumeError, Hume, fetchAccessToken, serialization } = createRequire(CLIENT + "/client.cjs")("hume");
const { open, speak } = require("./socket.cjs");

// The last response, before the client parsed it.
let last;
const recordingFetch = async (url, init) => {
	const answer = await fetch(url, init);
	last = { status: answer.status, type: answer.headers.get("content-type"), text: await answer.clone().text() };
	return answer;
};
const connectTo = (options) =>
	new HumeClient({ environment: BOX_URL, fetch: recordingFetch, maxRetries: 0, ...options });
const box = connectTo({ apiKey: API_KEY }).empathicVoice;

// strictly parses the last response with the client's schema of a name.
const strictly = (name) =>
	serialization.empathicVoice[name].parseOrThrow(JSON.parse(last.text), { unrecognizedObjectKeys: "passthrough" });

const refused = async (call, status, type, words) => {
	await assert.rejects(call, (err) => {
		assert.ok(err instanceof (type ?? HumeError), `${err.name}: ${err.message}`);
		assert.equal(err.statusCode, status);
		assert.match(last.type, /^application\/json/);
		assert.ok(err.body.message.includes(words ?? ""), `"${err.body.message}" does not say ${words}`);
		return true;
	});
};
const unknownID = "00000000-0000-4000-8000-000000000000";
const all = async (pages) => {
	const items = [];
	for await (const item of await pages) items.push(item);
	return items;
};
const sleep = (ms) => new Promise((awake) => setTimeout(awake, ms));
const isTime = (ms) => assert.ok(ms > 1e12 && ms < 1e13, `${ms} is not a time in milliseconds`);

// The three kinds of versioned resources have the same life cycle.
const kinds = {
	Prompt: {
		of: box.prompts,
		record: "ReturnPrompt",
		page: "ReturnPagedPrompts",
		first: { text: "Be kind." },
		next: { text: "Be brief." },
	},
	Tool: {
		of: box.tools,
		record: "ReturnUserDefinedTool",
		page: "ReturnPagedUserDefinedTools",
		first: {
			parameters: '{"type":"object","properties":{"city":{"type":"string"}}}',
			description: "Weather.",
			fallbackContent: "No idea.",
		},
		next: { parameters: '{"type":"object"}' },
	},
	Config: {
		of: box.configs,
		record: "ReturnConfig",
		page: "ReturnPagedConfigs",
		first: { eviVersion: "3", voice: { name: "joe", provider: "HUME_AI" } },
		next: { eviVersion: "4-mini" },
	},
};

async function checkLifeCycle(kind) {
	const { of, record, page, first, next } = kinds[kind];
	const made = [];
	for (const name of ["one", "two", "three"]) {
		const r = await of[`create${kind}`]({ name: `${kind}-${name}`, versionDescription: "first", ...first });
		assert.deepEqual(r, strictly(record));
		assert.equal(last.status, 201);
		assert.equal(r.version, 0);
		isTime(r.createdOn);
		made.push(r);
	}
	const { id } = made[0];
	const second = await of[`create${kind}Version`](id, { versionDescription: "second", ...next });
	assert.deepEqual([second.version, second.name, second.versionDescription], [1, `${kind}-one`, "second"]);
	strictly(record);
	assert.equal((await of[`get${kind}Version`](id, 0)).versionDescription, "first");
	strictly(record);
	assert.equal(
		(await of[`update${kind}Description`](id, 0, { versionDescription: "changed" })).versionDescription,
		"changed",
	);
	strictly(record);
	assert.equal(typeof (await of[`update${kind}Name`](id, { name: `${kind}-new` })), "string");

	for (const pageSize of [1, 2, 100]) {
		const listed = await all(of[`list${kind}s`]({ pageNumber: 0, pageSize }));
		assert.deepEqual(listed.map((r) => r.id).sort(), made.map((r) => r.id).sort());
		strictly(page);
	}
	assert.deepEqual(
		(await all(of[`list${kind}s`]({ name: `${kind}-new` }))).map((r) => [r.id, r.version]),
		[[id, 1]],
	);
	assert.equal((await all(of[`list${kind}s`]({ restrictToMostRecent: false }))).length, 4);
	const versions = await of[`list${kind}Versions`](id, { restrictToMostRecent: false, pageSize: 1 });
	strictly(page);
	if (kind === "Prompt")
		// The only list without an iterator.
		assert.deepEqual([versions.promptsPage.length, versions.totalPages], [1, 2]);
	else assert.equal((await all(versions)).length, 2);

	await refused(
		of[`create${kind}`]({ name: "x".repeat(75), ...first }),
		400,
		Hume.empathicVoice.BadRequestError,
		"name",
	);
	await refused(of[`get${kind}Version`](unknownID, 0), 404, undefined, unknownID);
	await refused(of[`list${kind}s`]({ pageSize: 101 }), 400, Hume.empathicVoice.BadRequestError, "page_size");
	await of[`delete${kind}Version`](id, 1);
	await refused(of[`get${kind}Version`](id, 1), 404);
	assert.equal((await of[`create${kind}Version`](id, next)).version, 2);
	await of[`delete${kind}`](id);
	await refused(of[`get${kind}Version`](id, 0), 404);
	return made[1];
}

async function configsAreResolved(prompt, tool) {
	const config = await box.configs.createConfig({
		name: "whole",
		eviVersion: "3",
		voice: { name: "ITO", provider: "HUME_AI" }, // a cloud voice, whose stand-in is Joe
		prompt: { id: prompt.id, version: 0 },
		tools: [{ id: tool.id }],
		builtinTools: [{ name: "hang_up", fallbackContent: "Bye." }],
		eventMessages: { onNewChat: { enabled: true, text: "Good morning." } },
		timeouts: { inactivity: { enabled: true, durationSecs: 60 } },
		turnDetection: { endOfTurnSilenceMs: 500 },
		interruption: { minInterruptionMs: 100 },
		nudges: { enabled: true, intervalSecs: 5 },
		languageModel: { modelProvider: "ANTHROPIC", modelResource: "claude-3-7-sonnet-latest", temperature: 0.5 },
		webhooks: [{ url: "https://example.com/hook", events: ["chat_started", "chat_ended"] }],
	});
	strictly("ReturnConfig");
	assert.deepEqual([config.voice.id, config.voice.name, config.voice.provider], ["voice-joe", "Joe", "HUME_AI"]);
	assert.deepEqual(
		[config.prompt.text, config.tools[0].name, config.builtinTools[0].name],
		[prompt.text, tool.name, "hang_up"],
	);
	assert.deepEqual(
		[
			config.eventMessages.onNewChat.text,
			config.turnDetection.endOfTurnSilenceMs,
			config.webhooks[0].events.length,
		],
		["Good morning.", 500, 2],
	);
	await refused(
		box.configs.createConfig({ name: "x", eviVersion: "3", voice: { name: "joe" }, prompt: { id: unknownID } }),
		404,
		undefined,
		unknownID,
	);
	await refused(
		box.configs.createConfig({ name: "x", eviVersion: "5" }),
		400,
		Hume.empathicVoice.BadRequestError,
		"evi_version",
	);
	return config;
}

// chat opens a chat, waits for the end of the greeting if greeted is set, sends a text if there is one,
// waits for the answer, and returns the metadata of the chat.
async function chat(args, greeted, text) {
	const socket = open(box, args);
	const [metadata] = await socket.until("chat_metadata");
	assert.ok(metadata.chatId && metadata.chatGroupId);
	if (greeted) await socket.until("assistant_end");
	if (text) {
		await socket.played(); // an interruption removes what was not played yet
		socket.sendUserInput(text);
		assert.ok((await socket.until("assistant_end")).some((m) => m.type === "audio_output"));
		await socket.played();
	}
	socket.close();
	await socket.until("close");
	return metadata;
}

async function chatTakesEveryMessage(config) {
	const accessToken = await fetchAccessToken({ apiKey: API_KEY, secretKey: SECRET_KEY, host: new URL(BOX_URL).host });
	const socket = open(connectTo({ accessToken }).empathicVoice, {
		configId: config.id,
		configVersion: 0,
		verboseTranscription: true,
		allowConnection: true,
		eventLimit: 10,
		voiceId: "a7ecc00a-6fc0-4546-8126-e12cfd8de3bf", // Alice Bennett, whose stand-in is Jenny
		sessionSettings: {
			audio: { encoding: "linear16", sampleRate: 8000, channels: 1 },
			customSessionId: "é&=[x]",
			eventLimit: 20,
			variables: { name: "Ann", n: 2.5, b: false },
			context: { text: "It rains.", type: "persistent" },
			systemPrompt: "You help {{name}}.",
		},
	});
	const [metadata] = await socket.until("chat_metadata");
	assert.equal(metadata.customSessionId, "é&=[x]");
	await socket.until("assistant_end"); // the greeting
	await socket.played();
	let speaking = speak((sound) => socket.sendAudioInput({ data: sound.toString("base64") }));
	const words = (await socket.until("assistant_end")).filter((m) => m.type === "user_message");
	assert.deepEqual(
		words.map((m) => m.interim),
		[...Array(words.length - 1).fill(true), false],
	);
	assert.ok(words.length > 1 && words.at(-1).message.content.includes("name"));
	await speaking;

	socket.sendSessionSettings({
		customSessionId: "mine",
		metadata: { a: [1, { b: null }] },
		variables: { name: "Bo" },
		context: { text: "Sun." },
	});
	socket.sendAssistantInput({ text: "This goes on and on, ".repeat(8) });
	await socket.until("audio_output");
	speaking = speak((sound) => socket.sendBinary(sound));
	await socket.until("user_interruption");
	const [transcript] = (await socket.until("assistant_end")).filter((m) => m.type === "user_message" && !m.interim);
	assert.ok(transcript.message.content.includes("name") && transcript.customSessionId === "mine");
	await speaking;

	socket.pauseAssistant();
	socket.sendUserInput("Are you there?");
	await socket.until("user_message");
	socket.resumeAssistant();
	await socket.until("assistant_end");
	for (const wrong of [
		() => socket.sendToolResponseMessage({ toolCallId: "x", content: "y" }),
		() => socket.sendToolErrorMessage({ toolCallId: "x", error: "y" }),
		() => socket.sendSessionSettings({ systemPrompt: "" }),
		() => socket.sendAudioInput({ data: "$" }),
	]) {
		wrong();
		await socket.until("error");
	}
	socket.close();
	await socket.until("close");

	const lost = open(box, { configId: unknownID });
	assert.equal((await lost.until("error")).at(-1).code, "E0709");
	assert.equal((await lost.until("close")).at(-1).code, 1008);
	lost.close();
}

// waitForEnd waits until the box has seen the end of a chat, a moment after this client.
async function waitForEnd(id) {
	for (let i = 0; ; i++) {
		const events = await box.chats.listChatEvents(id);
		if (events.response.status === "USER_ENDED") return;
		assert.ok(i < 100, `chat ${id} is still ${events.response.status}`);
		await sleep(50);
	}
}

async function historyIsStored(config) {
	const first = await chat({ configId: config.id }, true, "What do you like about the sea?");
	await waitForEnd(first.chatId);
	const second = await chat({ resumedChatGroupId: first.chatGroupId, configId: config.id }, false);
	await waitForEnd(second.chatId);
	const other = await chat({}, false);
	await waitForEnd(other.chatId);

	for (const pageSize of [1, 2, 100]) {
		const listed = await all(box.chats.listChats({ pageNumber: 0, pageSize, ascendingOrder: true }));
		strictly("ReturnPagedChats");
		assert.deepEqual(
			listed.map((c) => c.id),
			[first, second, other].map((c) => c.chatId),
		);
		const groups = await all(box.chatGroups.listChatGroups({ pageNumber: 0, pageSize, ascendingOrder: true }));
		strictly("ReturnPagedChatGroups");
		assert.deepEqual(
			groups.map((g) => [g.id, g.numChats]),
			[
				[first.chatGroupId, 2],
				[other.chatGroupId, 1],
			],
		);
		isTime(groups[0].firstStartTimestamp);
	}
	assert.deepEqual(
		(await all(box.chats.listChats({ configId: config.id, ascendingOrder: false }))).map((c) => c.id),
		[second.chatId, first.chatId],
	);
	assert.equal((await all(box.chatGroups.listChatGroups({ configId: config.id }))).length, 1);
	assert.equal((await all(box.chats.listChats({ status: "ERROR" }))).length, 0);

	const events = await all(
		box.chats.listChatEvents(first.chatId, { pageNumber: 0, pageSize: 2, ascendingOrder: true }),
	);
	strictly("ReturnChatPagedEvents");
	const of = (type) => events.filter((e) => e.type === type);
	assert.equal(of("USER_MESSAGE")[0].messageText, "What do you like about the sea?");
	assert.deepEqual([of("USER_MESSAGE")[0].role, of("AGENT_MESSAGE")[0].role], ["USER", "AGENT"]);
	assert.equal(of("AGENT_MESSAGE")[0].messageText, "Good morning."); // of the config
	assert.ok(of("AGENT_MESSAGE").length > 1, "the answer is not there");
	assert.ok(
		events.every((e, i) => i === 0 || e.timestamp >= events[i - 1].timestamp),
		"the events are not in order",
	);
	await box.chats.listChatEvents(first.chatId);
	strictly("ReturnChatPagedEvents");

	const group = await box.chatGroups.getChatGroup(first.chatGroupId, { pageSize: 10, ascendingOrder: true });
	strictly("ReturnChatGroupPagedChats");
	assert.deepEqual(
		[group.numChats, group.active, group.chatsPage.map((c) => c.id)],
		[2, false, [first.chatId, second.chatId]],
	);
	const grouped = await all(
		box.chatGroups.listChatGroupEvents(first.chatGroupId, { pageNumber: 0, pageSize: 3, ascendingOrder: true }),
	);
	strictly("ReturnChatGroupPagedEvents");
	assert.deepEqual(
		grouped.filter((e) => e.chatId === first.chatId).map((e) => e.id),
		events.map((e) => e.id),
	);
	assert.ok(grouped.some((e) => e.chatId === second.chatId));

	await refused(box.chats.listChatEvents(unknownID), 404, undefined, unknownID);
	await refused(box.chatGroups.getChatGroup(unknownID), 404, undefined, unknownID);
	await refused(box.chats.listChats({ pageSize: 0 }), 400, Hume.empathicVoice.BadRequestError, "page_size");
	return first;
}

async function recordingIsServed({ chatId, chatGroupId }) {
	let audio;
	for (let i = 0; i < 100; i++) {
		audio = await box.chats.getAudio(chatId);
		strictly("ReturnChatAudioReconstruction");
		if (audio.status === "COMPLETE") break;
		await sleep(100);
	}
	assert.deepEqual([audio.id, audio.status], [chatId, "COMPLETE"]);
	assert.ok(audio.signedUrlExpirationTimestampMillis > Date.now());
	const whole = await fetch(audio.signedAudioUrl); // without a key
	const wav = Buffer.from(await whole.arrayBuffer());
	assert.deepEqual(
		[whole.status, wav.toString("latin1", 0, 4), wav.toString("latin1", 8, 12)],
		[200, "RIFF", "WAVE"],
	);
	const bytesPerSecond = wav.readUInt32LE(28);
	assert.ok(wav.length / bytesPerSecond > 1, `${wav.length} bytes of audio`);
	const part = await fetch(audio.signedAudioUrl, { headers: { Range: "bytes=100-199" } });
	assert.equal(part.status, 206);
	assert.deepEqual(Buffer.from(await part.arrayBuffer()), wav.subarray(100, 200));
	const forged = audio.signedAudioUrl.replace(chatId, unknownID);
	assert.ok([401, 403, 404].includes((await fetch(forged)).status));

	const pages = await box.chatGroups.getAudio(chatGroupId, { pageNumber: 0, pageSize: 10, ascendingOrder: true });
	strictly("ReturnChatGroupPagedAudioReconstructions");
	assert.equal(pages.numChats, 2);
	assert.equal(pages.audioReconstructionsPage[0].id, chatId);
	await refused(box.chats.getAudio(unknownID), 404, undefined, unknownID);
}

async function tokensAuthenticate() {
	const host = new URL(BOX_URL).host;
	const accessToken = await fetchAccessToken({ apiKey: API_KEY, secretKey: SECRET_KEY, host });
	const bearer = connectTo({ accessToken }).empathicVoice;
	await refused(bearer.prompts.listPrompts(), 403); // needs an operator, not a visitor
	await refused(bearer.chats.listChats(), 403);
	assert.ok((await all(connectTo({ accessToken }).tts.voices.list({ provider: "HUME_AI" }))).length > 0);
	await assert.rejects(fetchAccessToken({ apiKey: API_KEY, secretKey: "wrong", host }), /401/);
	await refused(connectTo({ accessToken: "wrong" }).empathicVoice.prompts.listPrompts(), 401);
	await refused(connectTo({ apiKey: "wrong" }).empathicVoice.prompts.listPrompts(), 401);
}

// calls wraps the calls of a resource, and returns a function that lists those that were not made.
function calls(resource) {
	const made = new Set();
	const names = Object.getOwnPropertyNames(Object.getPrototypeOf(resource)).filter(
		(n) => n !== "constructor" && !n.startsWith("_"),
	);
	for (const name of names) {
		const call = resource[name].bind(resource);
		resource[name] = (...args) => {
			made.add(name);
			return call(...args);
		};
	}
	return () => names.filter((n) => !made.has(n));
}

async function main() {
	const resources = {
		configs: box.configs,
		prompts: box.prompts,
		tools: box.tools,
		chats: box.chats,
		chatGroups: box.chatGroups,
	};
	const unused = Object.entries(resources).map(([name, r]) => [name, calls(r)]);
	const law = async (name, run) => {
		try {
			const result = await run();
			console.log(`ok ${name}`);
			return result;
		} catch (err) {
			throw new Error(`${name}; the last answer was ${last?.status} ${last?.text.slice(0, 1000)}`, {
				cause: err,
			});
		}
	};
	const prompt = await law("prompts have their life cycle", () => checkLifeCycle("Prompt"));
	const tool = await law("tools have their life cycle", () => checkLifeCycle("Tool"));
	await law("configs have their life cycle", () => checkLifeCycle("Config"));
	const config = await law("configs are resolved", () => configsAreResolved(prompt, tool));
	await law("tokens authenticate", tokensAuthenticate);
	const stored = await law("history is stored", () => historyIsStored(config));
	await law("the recording is served", () => recordingIsServed(stored));
	await law("a chat accepts every setting and message", () => chatTakesEveryMessage(config));
	for (const [name, uncalled] of unused) assert.deepEqual(uncalled(), [], `calls of ${name} that were not made`);
	console.log("done");
}

main().then(
	() => process.exit(0),
	(err) => {
		console.error(err);
		process.exit(1);
	},
);
