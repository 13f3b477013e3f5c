// Makes every call of the published client's tts namespace to a real box.
const assert = require("node:assert");
const { HumeClient } = require(process.env.CLIENT + "/node_modules/hume");
const url = process.env.BOX_URL;
const client = new HumeClient({
	apiKey: process.env.API_KEY,
	environment: {
		base: url,
		evi: url.replace("http", "ws") + "/v0/evi",
		tts: url.replace("http", "ws") + "/v0/tts",
		stream: url.replace("http", "ws") + "/v0/stream",
	},
});
const voice = { name: "Ito", provider: "HUME_AI" }; // a cloud voice, whose stand-in is Joe
const wav = { type: "wav" };

async function bytes(stream) {
	const all = [];
	for await (const piece of stream) all.push(Buffer.from(piece));
	return Buffer.concat(all);
}

// talk opens a socket, sends messages, of which the last closes the socket, and returns all responses.
// The client warns on the console about messages that it cannot parse.
async function talk(query, messages) {
	const warn = console.warn;
	const warned = [];
	console.warn = (...w) => warned.push(w.join(" "));
	const socket = await client.tts.streamInput.connect({
		noBinary: true,
		formatType: "pcm",
		stripHeaders: true,
		...query,
	});
	const responses = [];
	const closed = new Promise((resolve, reject) => {
		socket.on("message", (m) => responses.push(m));
		socket.on("error", reject);
		socket.on("close", (e) => resolve(e.code));
	});
	await socket.waitForOpen();
	for (const m of messages) socket.sendPublish(m);
	assert.equal(await closed, 1000);
	console.warn = warn;
	assert.deepEqual(warned, []);
	return responses;
}

// An error is an ordinary message and leaves the socket open. Without instant mode a
// voice may be designed from a description.
async function errors() {
	const responses = await talk({ instantMode: true }, [
		{ text: "One.", flush: true },
		{ text: "Two.", voice, flush: true },
		{ close: true },
	]);
	const refused = responses.filter((m) => m.error);
	assert.equal(refused.length, 1);
	assert.deepEqual(
		[refused[0].type, refused[0].audio, refused[0].code, refused[0].error],
		["audio", "", "E0740", "speech_refused"],
	);
	assert.match(refused[0].message, /voice: missing/);
	assert.ok(responses.some((m) => m.text === "Two." && m.audio.length > 1000));
	const missing = await talk({}, [{ text: "One.", voice: { name: "nobody" } }, { close: true }]);
	assert.deepEqual(
		missing.map((m) => m.error),
		["voice_not_found"],
	);
	const made = await talk({}, [
		{ text: "One.", description: "an old man", flush: true },
		{ text: "Two." },
		{ close: true },
	]);
	for (const text of ["One.", "Two."])
		assert.ok(
			made.some((m) => m.text === text && m.audio.length > 1000),
			text,
		);
	assert.ok(made.every((m) => !m.error && typeof m.transcribedText === "string"));
}

// Mouth uses phonemes as the published lip-sync example does.
class Mouth {
	last = -Infinity;
	phonemes = [];
	addPhoneme(phoneme, timestamp) {
		if (timestamp < this.last)
			throw new Error(
				`Phonemes must be added in chronological order. Got timestamp ${timestamp} after ${this.last}`,
			);
		this.last = timestamp;
		this.phonemes.push(phoneme);
	}
}

// The times of phonemes increase over all sentences of a generation, and the example knows all
// their symbols.
async function times() {
	const mouth = new Mouth();
	let samples = 0;
	for await (const m of await client.tts.synthesizeJsonStreaming({
		version: "2",
		utterances: [{ text: "Go home today. Now, judge!", voice, trailingSilence: 0.5 }, { text: "Oh, how?" }],
		format: { type: "pcm" },
		includeTimestampTypes: ["word", "phoneme"],
	})) {
		if (m.type === "audio") samples += Buffer.from(m.audio, "base64").length / 2;
		else if (m.timestamp.type === "phoneme") mouth.addPhoneme(m.timestamp.text, m.timestamp.time.begin);
		if (m.type === "timestamp") assert.ok(m.timestamp.time.end <= samples / 48);
	}
	assert.equal(mouth.phonemes.join(" "), "ɡ oʊ h oʊ m t ə d eɪ n aʊ dʒ ʌ dʒ oʊ h aʊ");
	assert.ok(mouth.last > 1500, `${mouth.last}`);
}

(async () => {
	const whole = await client.tts.synthesizeJson({
		utterances: [{ text: "Hello there. All is well.", voice, trailingSilence: 0.5 }, { text: "Good night." }],
		format: wav,
		includeTimestampTypes: ["word", "phoneme"],
		numGenerations: 2,
	});
	assert.equal(whole.generations.length, 2);
	assert.ok(whole.requestId);
	for (const g of whole.generations) {
		const file = Buffer.from(g.audio, "base64");
		assert.equal(file.length, g.fileSize);
		assert.ok(Math.abs((file.length - 44) / 96000 - g.duration) < 1e-6);
		assert.deepEqual(
			g.snippets.map((s) => s.length),
			[2, 1],
		);
		for (const s of g.snippets.flat()) {
			assert.equal(s.generationId, g.generationId);
			assert.equal(typeof s.transcribedText, "string");
			assert.deepEqual(
				s.timestamps.filter((t) => t.type === "word").map((t) => t.text),
				s.text.match(/\w+/g),
			);
		}
	}
	const id = whole.generations[0].generationId;
	const file = await bytes(
		await (
			await client.tts.synthesizeFile({
				utterances: [{ text: "And on." }],
				context: { generationId: id },
				format: wav,
			})
		).stream(),
	);
	assert.equal(file.subarray(0, 4).toString(), "RIFF");
	const streamed = await bytes(
		await (await client.tts.synthesizeFileStreaming({ utterances: [{ text: "Hello there.", voice }] })).stream(),
	);
	assert.ok(streamed.length > 5000);

	for (const stripHeaders of [true, false]) {
		const chunks = [];
		let times = 0;
		for await (const m of await client.tts.synthesizeJsonStreaming({
			utterances: [{ text: "Hello there. All is well.", voice }],
			format: wav,
			includeTimestampTypes: ["word"],
			stripHeaders,
		})) {
			if (m.type === "timestamp") times++;
			else chunks.push(m);
		}
		assert.equal(times, 5);
		assert.ok(chunks.length > 2);
		assert.equal(chunks.filter((c) => c.isLastChunk).length, 2);
		assert.ok(chunks.every((c) => c.audioFormat === "wav" && c.requestId && c.snippetId));
		const heads = chunks.filter((c) => Buffer.from(c.audio, "base64").subarray(0, 4).toString() === "RIFF").length;
		assert.equal(heads, stripHeaders ? 1 : chunks.filter((c) => c.audio).length);
	}

	const said = ["Hello ", "there. All is", " well. "].map((text) => ({ text, voice }));
	const responses = await talk({ includeTimestampTypes: ["word"], version: "2" }, [
		...said,
		{ text: "Bye", close: true },
	]);
	const texts = responses.filter((m) => m.type === "audio" && m.isLastChunk).map((m) => m.text);
	assert.deepEqual(texts, ["Hello there.", "All is well.", "Bye"]);
	assert.equal(responses.filter((m) => m.type === "timestamp").length, 6);
	await errors();
	await times();

	await assert.rejects(
		client.tts.synthesizeJson({ utterances: [] }),
		(e) => e.statusCode === 400 && /utterances/.test(JSON.stringify(e.body)),
	);
	await assert.rejects(
		client.tts.synthesizeJson({ utterances: [{ text: "a", voice: { name: "nobody" } }] }),
		(e) => e.statusCode === 404,
	);
	const list = await client.tts.voices.list({ provider: "HUME_AI" });
	assert.ok(list.data.some((v) => v.name === "Joe"));
	await client.tts.voices.create({ generationId: id, name: "Doorman" });
	const custom = await client.tts.synthesizeJson({
		utterances: [{ text: "Hello.", voice: { name: "Doorman" } }],
		format: wav,
	});
	assert.ok(custom.generations[0].duration > 0.2);
	await client.tts.voices.delete({ name: "Doorman" });
	console.log("done");
	process.exit(0);
})().catch((e) => {
	console.error(e);
	process.exit(1);
});
