// Opens apps for the former cloud service in a real browser, one with each version of the published
// React hook. They dial api.hume.ai, which the private network of the test maps to a box
// (cloud_host_test.go). The box's model follows a script (scripted_model_test.go). Prints a line
// for each check that passes, and "done"; exits with 1 at the first that fails.
"use strict";
const assert = require("node:assert/strict");
const { createHash, X509Certificate } = require("node:crypto");
const { writeFileSync } = require("node:fs");
const { createServer } = require("node:http");
const { createRequire } = require("node:module");
const path = require("node:path");
const tls = require("node:tls");
const { launch } = require("./browser.cjs");
const { HUME_API_KEY, HUME_SECRET_KEY, CLIENT, FOLDER } = process.env;
const esbuild = createRequire(CLIENT + "/client.cjs")("esbuild");
const host = "api.hume.ai";

async function post(resource, body) {
	const answer = await fetch(`https://${host}/v0/evi/${resource}`, {
		method: "POST",
		body: JSON.stringify(body),
		headers: { "content-type": "application/json", "x-hume-api-key": HUME_API_KEY },
	});
	assert.equal(answer.status, 201, `${resource}: ${answer.status}`);
	return (await answer.json()).id;
}

async function makeConfig() {
	const lamp = await post("tools", {
		name: "switch_lamp",
		parameters: '{"type":"object","properties":{"on":{"type":"boolean"}},"required":["on"]}',
	});
	return post("configs", {
		name: "former",
		evi_version: "3",
		voice: { name: "joe" },
		prompt: { text: "You work at the desk." },
		tools: [{ id: lamp }],
	});
}

async function makeToken() {
	const answer = await fetch(`https://${host}/oauth2-cc/token`, {
		method: "POST",
		body: new URLSearchParams({ grant_type: "client_credentials" }),
		headers: { authorization: `Basic ${Buffer.from(`${HUME_API_KEY}:${HUME_SECRET_KEY}`).toString("base64")}` },
	});
	return (await answer.json()).access_token;
}

// build builds the page for a version of the hook.
async function build(version) {
	const built = await esbuild.build({
		entryPoints: [path.join(__dirname, "hook", version === "0.1" ? "former01.jsx" : "former.jsx")],
		nodePaths: [path.join(CLIENT, "node_modules")],
		bundle: true,
		write: false,
		jsx: "automatic",
		platform: "browser",
		alias: version === "0.3" ? { "@humeai/voice-react": "voice-react-0.3" } : {},
		define: { "process.env.NODE_ENV": '"production"' },
		logLevel: "error",
	});
	return built.outputFiles[0].text;
}

// serve serves the pages at an address that counts as secure.
async function serve(pages) {
	const server = createServer((request, answer) => {
		const [, version, file] = new URL(request.url, "http://x").pathname.split("/");
		if (file === "page.js" && pages[version])
			return answer.writeHead(200, { "content-type": "text/javascript" }).end(pages[version]);
		answer
			.writeHead(200, { "content-type": "text/html; charset=utf-8" })
			.end('<!doctype html><title>Talk</title><div id="root"></div><script src="page.js"></script>');
	});
	await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
	return `http://127.0.0.1:${server.address().port}`;
}

// trusted returns the option that makes Chromium trust the box, because Chromium ignores
// NODE_EXTRA_CA_CERTS.
async function trusted() {
	const socket = tls.connect({ host, port: 443, servername: host });
	await new Promise((ready, fails) => socket.once("secureConnect", ready).once("error", fails));
	const key = new X509Certificate(socket.getPeerCertificate(true).raw).publicKey.export({
		type: "spki",
		format: "der",
	});
	socket.destroy();
	return `--ignore-certificate-errors-spki-list=${createHash("sha256").update(key).digest("base64")}`;
}

// silence writes a file with a second of silence, for the microphone, and returns its name.
function silence() {
	const head = Buffer.alloc(44),
		size = 48_000 * 2,
		file = path.join(FOLDER, "silence.wav");
	head.write("RIFF", 0);
	head.writeUInt32LE(36 + size, 4);
	head.write("WAVEfmt ", 8);
	head.writeUInt32LE(16, 16);
	head.writeUInt16LE(1, 20);
	head.writeUInt16LE(1, 22);
	head.writeUInt32LE(48_000, 24);
	head.writeUInt32LE(96_000, 28);
	head.writeUInt16LE(2, 32);
	head.writeUInt16LE(16, 34);
	head.write("data", 36);
	head.writeUInt32LE(size, 40);
	writeFileSync(file, Buffer.concat([head, Buffer.alloc(size)]));
	return file;
}

async function holdConversation(browser, at, version, query) {
	const page = await browser.newPage();
	page.setDefaultTimeout(180_000);
	const complaints = [];
	page.on("pageerror", (err) => complaints.push(String(err)));
	const shown = () => page.evaluate(() => JSON.stringify([document.body.innerText, window.seen])).catch(String);
	const when = (condition, argument) => page.waitForFunction(condition, argument, { polling: 50 });
	// answered sends a text and waits until the whole answer was played. The parts of an answer arrive
	// in the order in which the browser decodes their sound.
	const answered = async (text, ...said) => {
		await page.evaluate((text) => window.voice.sendUserInput(text), text);
		await when((said) => {
			const words = window.seen.messages
				.filter((m) => m.type === "assistant_message")
				.map((m) => m.message.content)
				.join(" ");
			return (
				window.seen.errors.length > 0 ||
				(said.every((part) => words.includes(part)) && window.seen.ended > 0 && !window.voice.isPlaying)
			);
		}, said);
	};
	try {
		await page.goto(`${at}/${version}/?${query}`);
		await page.getByRole("button").click();
		await when(() => window.seen.errors.length > 0 || window.voice.status.value === "connected");
		await answered("Good morning.", "You said: Good morning.");
		await answered("Switch the lamp on.", "The tool says:", '"switch_lamp is done"');
		const { messages, errors } = await page.evaluate(() => window.seen);
		assert.deepEqual([errors, complaints], [[], []]);
		assert.deepEqual(
			messages.filter((m) => m.type === "user_message").map((m) => m.message.content),
			["Good morning.", "Switch the lamp on."],
		);
		await page.evaluate(() => window.voice.disconnect());
		await when(() => window.voice.status.value === "disconnected");
		console.log(`ok ${version}`);
	} catch (err) {
		throw new Error(`${version}: ${await shown()} ${complaints}`, { cause: err });
	}
	await page.close();
}

async function main() {
	const [config, token, browser] = await Promise.all([
		makeConfig(),
		makeToken(),
		trusted().then((trust) => launch(silence(), trust)),
	]);
	const pages = {};
	for (const version of ["0.1", "0.2", "0.3"]) pages[version] = await build(version);
	const at = await serve(pages);
	await Promise.all(
		Object.keys(pages).map((version) =>
			holdConversation(browser, at, version, new URLSearchParams({ token, config })),
		),
	);
	await browser.close();
	console.log("done");
}

main().then(
	() => process.exit(0),
	(err) => {
		console.error(err);
		process.exit(1);
	},
);
