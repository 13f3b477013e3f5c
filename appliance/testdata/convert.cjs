// Converts a person's recording to another voice with the published JavaScript client. Prints a
// line for each check that passes, and exits with 1 at the first that fails. The folder OUT gets the
// sound, which the test measures.
"use strict";
const assert = require("node:assert/strict");
const { createReadStream, writeFileSync } = require("node:fs");
const { join } = require("node:path");
const { createRequire } = require("node:module");
const { BOX_URL, API_KEY, CLIENT, RECORDING, OUT } = process.env;
const { HumeClient, HumeError } = createRequire(CLIENT + "/client.cjs")("hume");

const tts = new HumeClient({ environment: BOX_URL, apiKey: API_KEY }).tts;
const patient = { timeoutInSeconds: 300 };
const voice = { name: "joe", provider: "HUME_AI" };

const main = async () => {
	const file = await tts.convertVoiceFile(
		{ audio: createReadStream(RECORDING), voice, format: { type: "wav" } },
		patient,
	);
	const sound = Buffer.from(await file.arrayBuffer());
	assert.equal(sound.toString("latin1", 0, 4), "RIFF");
	writeFileSync(join(OUT, "said.wav"), sound);
	console.log("a recording becomes a file");

	const parts = [],
		times = [],
		texts = [];
	for await (const m of await tts.convertVoiceJson(
		{
			audio: createReadStream(RECORDING),
			voice,
			format: { type: "mp3" },
			stripHeaders: true,
			includeTimestampTypes: ["word"],
		},
		patient,
	)) {
		if (m.type === "audio") {
			assert.ok(
				m.requestId &&
					m.generationId &&
					m.snippetId &&
					m.isLastChunk &&
					m.audioFormat === "mp3" &&
					m.transcribedText === m.text,
				JSON.stringify({ ...m, audio: "" }),
			);
			parts.push(Buffer.from(m.audio, "base64"));
			texts.push(m.text);
		} else {
			assert.equal(m.type, "timestamp");
			assert.ok(m.timestamp.time.end > m.timestamp.time.begin && m.timestamp.type === "word");
			times.push(m.timestamp.text);
		}
	}
	assert.ok(parts.length >= 2, "phrases");
	assert.equal(times.length, texts.join(" ").split(/\s+/).length, "a time for each word");
	writeFileSync(join(OUT, "said.mp3"), Buffer.concat(parts));
	console.log("a recording becomes messages, phrase by phrase, whose chunks are one file, with a time for each word");

	await assert.rejects(
		tts.convertVoiceFile({ audio: Buffer.from("no sound at all"), voice }, patient),
		(e) => e instanceof HumeError && e.statusCode === 400 && /send WAV/.test(e.body.message),
	);
	await assert.rejects(
		tts.convertVoiceFile({ audio: createReadStream(RECORDING), voice: { name: "nobody" } }, patient),
		(e) => e.statusCode === 404,
	);
	console.log("invalid requests get a clear error");
	console.log("done");
};
main().catch((e) => {
	console.error(e);
	process.exit(1);
});
