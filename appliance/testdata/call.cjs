// Opens a page of docs/apps.md in a real browser, whose microphone plays a recording: a person's
// question, and the same question again during the answer. Prints a line for each check that passes, and
// exits with 1 at the first that fails. The file SHOT gets the last screenshot.
"use strict";
const assert = require("node:assert/strict");
const { createServer } = require("node:http");
const { createRequire } = require("node:module");
const fs = require("node:fs");
const path = require("node:path");
const { launch } = require("./browser.cjs");
const { BOX_URL, API_KEY, SECRET_KEY, CLIENT, CLIENTS, MICROPHONE, SHOT, PAGE } = process.env;
const installed = createRequire(CLIENT + "/client.cjs");

const recordedWords = /tone.*name.*pound key/i; // words of the recording

async function token() {
	const answer = await fetch(`${BOX_URL}/oauth2-cc/token`, {
		method: "POST",
		body: "grant_type=client_credentials",
		headers: {
			authorization: "Basic " + Buffer.from(`${API_KEY}:${SECRET_KEY}`).toString("base64"),
			"content-type": "application/x-www-form-urlencoded",
		},
	});
	assert.equal(answer.status, 200);
	return (await answer.json()).access_token;
}

// built returns a page with a bundled script, for an example that needs a build.
async function built(script, loader) {
	const result = await installed("esbuild").build({
		stdin: { contents: script, loader, resolveDir: __dirname },
		nodePaths: CLIENTS.split(" ").map((dir) => path.join(dir, "node_modules")),
		bundle: true,
		write: false,
		jsx: "automatic",
		platform: "browser",
		define: { "process.env.NODE_ENV": '"production"' },
		logLevel: "error",
	});
	const bundle = result.outputFiles[0].text.replaceAll("</script", "<\\/script");
	return `<!doctype html><meta charset="utf-8"><body><script>${bundle}</script></body>`;
}

async function main() {
	let page = fs
		.readFileSync(PAGE, "utf8")
		.replace("http://127.0.0.1:8080", BOX_URL)
		.replace("ACCESS_TOKEN", await token());
	const kind = path.extname(PAGE).slice(1);
	if (kind !== "html") page = await built(page, kind);
	const server = createServer((_, answer) => answer.writeHead(200, { "content-type": "text/html" }).end(page));
	await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
	const browser = await launch(MICROPHONE);
	const tab = await browser.newPage();
	tab.setDefaultTimeout(180_000);
	const law = async (name, run) => {
		try {
			await run();
			console.log(`ok ${name}`);
		} catch (err) {
			throw new Error(
				`${name}; the page says ${await tab.evaluate(() => document.body.innerText).catch(String)}`,
				{ cause: err },
			);
		} finally {
			await tab.screenshot({ path: SHOT, fullPage: true }).catch(() => {});
		}
	};
	const line = (text) =>
		tab
			.getByRole("listitem")
			.filter({ hasText: new RegExp(text, "i") })
			.first()
			.waitFor();
	const button = (name) => tab.getByRole("button", { name });
	await tab.addInitScript(() => {
		// records the loudest sample at the start of the clips that a client plays
		const start = AudioBufferSourceNode.prototype.start;
		window.loudest = 0;
		AudioBufferSourceNode.prototype.start = function (...args) {
			window.loudest = Math.max(
				window.loudest,
				...(this.buffer?.getChannelData(0) ?? [0]).slice(0, 48000).map(Math.abs),
			);
			return start.apply(this, args);
		};
	});
	await tab.goto(`http://127.0.0.1:${server.address().port}/`);
	// Measures the level of the assistant's sound, which the page plays.
	if (kind === "html")
		await tab.evaluate(() => {
			document.querySelector("#voice").addEventListener("playing", () => {
				const context = new AudioContext(),
					level = context.createAnalyser(),
					pcm = new Float32Array(2048);
				context.createMediaStreamSource(document.querySelector("#voice").srcObject).connect(level);
				setInterval(() => {
					level.getFloatTimeDomainData(pcm);
					window.loudest = Math.max(window.loudest, ...pcm.map(Math.abs));
				}, 20);
			});
		});
	if (kind === "html")
		await law("a refused microphone is reported, and the user can try again", async () => {
			await tab.evaluate(() => {
				window.getUserMedia = navigator.mediaDevices.getUserMedia;
				navigator.mediaDevices.getUserMedia = async () => {
					throw new DOMException("not allowed", "NotAllowedError");
				};
			});
			await button("Talk").click();
			await line("Error: not allowed");
			await tab.getByRole("button", { name: "Talk", disabled: false }).waitFor();
			await tab.getByRole("button", { name: "Hang up", disabled: true }).waitFor();
			await tab.evaluate(() => {
				navigator.mediaDevices.getUserMedia = window.getUserMedia;
			});
		});
	await button("Talk").click();
	await law("the spoken question is transcribed", () => line("You: .*" + recordedWords.source));
	await law("the answer is shown", () => line("Box: .+"));
	await law("the answer is played", () => tab.waitForFunction(() => window.loudest > 0.02, null, { polling: 50 }));
	await law("the page hangs up", async () => {
		await button("Hang up").click();
		await tab.getByRole("button", { name: "Talk", disabled: false }).waitFor();
	});
	await browser.close();
	server.close();
	console.log("done");
}

main().catch((err) => {
	console.error(err);
	process.exit(1);
});
