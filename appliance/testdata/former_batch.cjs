// Apps for the former cloud service that measure expression, with the published clients of their time: jobs
// of analysis and the stream. The clients have no setting for the address, so they dial api.hume.ai, which
// the private network of the test maps to a box (cloud_host_test.go). Prints a line for each check that
// passes, and "done"; exits with 1 if one fails.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const { createRequire } = require("node:module");
const { HUME_API_KEY, CLIENT, RECORDING, PORTRAIT } = process.env;
const installed = createRequire(CLIENT + "/client.cjs");

// scored checks a list of scores: all names, each from 0 to 1.
function scored(emotions, names = 48) {
	assert.equal(emotions.length, names);
	assert.ok(emotions.every((e) => typeof e.name === "string" && e.score > 0 && e.score <= 1));
	assert.deepEqual(
		emotions.map((e) => e.name),
		emotions.map((e) => e.name).sort((a, b) => (a < b ? -1 : 1)),
	);
}

// bytes returns the content of a received file, for each kind of stream that the clients use.
async function bytes(file) {
	if (file.arrayBuffer) return Buffer.from(await file.arrayBuffer());
	const pieces = [];
	for await (const piece of file) pieces.push(piece);
	return Buffer.concat(pieces);
}

async function texts(batch) {
	const job = await batch.startInferenceJob({
		text: ["I am so happy that you came. Thank you!", "Bob lives in Paris."],
		models: { language: { granularity: "sentence", sentiment: {} }, ner: {} },
		notify: false,
	});
	await job.awaitCompletion(120);
	const details = await batch.getJobDetails(job.jobId);
	assert.equal(details.type, "INFERENCE");
	assert.equal(details.jobId, job.jobId);
	assert.deepEqual(details.request.files, []);
	assert.equal(details.request.models.language.granularity, "sentence");
	const { state } = details;
	assert.equal(state.status, "COMPLETED");
	assert.equal(state.numErrors, 0);
	assert.ok(state.numPredictions >= 3);
	assert.ok(
		state.createdTimestampMs <= state.startedTimestampMs && state.startedTimestampMs <= state.endedTimestampMs,
	);
	const predictions = await batch.getJobPredictions(job.jobId);
	assert.deepEqual(
		predictions.map((p) => p.source.type),
		["text", "text"],
	);
	const [{ file, models }] = predictions[0].results.predictions;
	assert.equal(typeof file, "string");
	const sentences = models.language.groupedPredictions[0].predictions;
	assert.deepEqual(
		sentences.map((s) => [s.text, s.position.begin, s.position.end]),
		[
			["I am so happy that you came.", 0, 28],
			["Thank you!", 29, 39],
		],
	);
	for (const s of sentences) scored(s.emotions, 53);
	assert.equal(sentences[0].sentiment.length, 9);
	assert.ok(sentences[0].emotions.find((e) => e.name === "Joy").score > 0.2);
	return job.jobId;
}

async function files(batch) {
	const { jobId } = await batch.startInferenceJobFromLocalFile(
		[fs.createReadStream(RECORDING), fs.createReadStream(PORTRAIT)],
		{ json: { models: { face: {}, prosody: {} }, transcription: { language: "en" } } },
	);
	for (;;) {
		const { state, request } = await batch.getJobDetails(jobId);
		assert.equal(request.files.length, 2);
		assert.ok(request.files.every((f) => /^[0-9a-f]{32}$/.test(f.md5Sum) && f.filename));
		assert.notEqual(state.status, "FAILED");
		if (state.status === "COMPLETED") break;
		await new Promise((awake) => setTimeout(awake, 300));
	}
	const [recording, portrait] = await batch.getJobPredictions(jobId);
	assert.equal(recording.source.type, "file");
	assert.deepEqual(recording.results.errors, []);
	const { prosody, face } = recording.results.predictions[0].models;
	assert.equal(face, undefined);
	assert.ok(prosody.metadata.confidence > 0);
	for (const p of prosody.groupedPredictions[0].predictions) {
		assert.ok(p.time.begin < p.time.end);
		scored(p.emotions);
	}
	const seen = portrait.results.predictions[0].models.face.groupedPredictions[0].predictions;
	assert.ok(seen.length === 1 && seen[0].box.w > 60 && seen[0].prob >= 0.99);
	scored(seen[0].emotions);
	const archive = await bytes(await batch.getJobArtifacts(jobId));
	assert.equal(archive.subarray(0, 2).toString(), "PK");
	return jobId;
}

async function listed(batch, jobs) {
	const all = await batch.listJobs({ limit: 50, direction: "asc", sortBy: "created", when: "created_before" });
	assert.deepEqual(
		all.map((j) => j.jobId).filter((id) => jobs.includes(id)),
		jobs,
	);
	const completed = await batch.listJobs({ status: ["COMPLETED", "FAILED"], limit: 1 });
	assert.equal(completed.length, 1);
	assert.deepEqual(await batch.listJobs({ status: "FAILED" }), []);
	await assert.rejects(batch.getJobDetails("00000000-0000-4000-8000-000000000000"), { statusCode: 404 });
}

async function streamed(client, HumeError) {
	const errors = [];
	const socket = client.expressionMeasurement.stream.connect({
		config: { language: {} },
		onError: (err) => errors.push(err),
	});
	const words = await socket.sendText({ text: "Mary had a little lamb" });
	assert.equal(words.language.predictions.length, 5);
	scored(words.language.predictions[4].emotions, 53);
	const faces = await socket.sendFile({
		file: fs.createReadStream(PORTRAIT),
		config: { face: { identifyFaces: true } },
	});
	assert.equal(faces.face.predictions[0].face_id, "face_0");
	scored(faces.face.predictions[0].emotions);
	const voice = await socket.sendFile({ file: fs.createReadStream(RECORDING), config: { prosody: {} } });
	for (const p of voice.prosody.predictions) scored(p.emotions);
	assert.ok(voice.prosody.predictions.length > 0);
	await socket.reset();
	await socket.getJobDetails();
	await assert.rejects(
		socket.sendText({ text: "A face?", config: { face: {} } }),
		(err) => err instanceof HumeError && /CODE E0102/.test(err.message),
	);
	await assert.rejects(socket.sendText({ text: "x".repeat(10_001), config: { language: {} } }), /CODE E0206/);
	socket.close();
	assert.deepEqual(errors, []);
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

async function main() {
	for (const version of ["hume-0.9", "hume-0.11", "hume-0.13"]) {
		const { HumeClient, HumeError } = installed(version);
		const client = new HumeClient({ apiKey: HUME_API_KEY });
		const { batch } = client.expressionMeasurement;
		const jobs = [await law(`${version}: a job of texts`, () => texts(batch))];
		jobs.push(await law(`${version}: a job of files`, () => files(batch)));
		await law(`${version}: lists of jobs`, () => listed(batch, jobs));
		await law(`${version}: the stream`, () => streamed(client, HumeError));
	}
	console.log("done");
}

main().then(
	() => process.exit(0), // awaitCompletion leaves timers
	(err) => {
		console.error(err);
		process.exit(1);
	},
);
