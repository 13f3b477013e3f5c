// Talks to a box with the published React hook in a real browser, whose microphone plays a recording:
// a person's question, the same question 13 seconds later during the answer, and then silence. The box's
// model follows a script (scripted_model_test.go). Prints a line for each check that passes, and
// exits with 1 at the first that fails. The file SHOT gets the last screenshot.
"use strict";
const assert = require("node:assert/strict");
const { createServer } = require("node:http");
const { createRequire } = require("node:module");
const path = require("node:path");
const { launch } = require("./browser.cjs");
const { BOX_URL, API_KEY, CLIENT, MICROPHONE, SHOT } = process.env;
const esbuild = createRequire(CLIENT + "/client.cjs")("esbuild");

const recordedWords = /tone.*name.*pound key/i; // words of the recording

async function post(resource, body) {
	const answer = await fetch(`${BOX_URL}/v0/evi/${resource}`, {
		method: "POST",
		body: JSON.stringify(body),
		headers: { "content-type": "application/json", "x-service-api-key": API_KEY },
	});
	assert.equal(answer.status, 201, `${resource}: ${answer.status}`);
	return (await answer.json()).id;
}

async function makeConfig() {
	const tool = (name, key, type) =>
		post("tools", {
			name,
			parameters: JSON.stringify({ type: "object", properties: { [key]: { type } }, required: [key] }),
		});
	const tools = [
		{ id: await tool("press_key", "key", "string") },
		{ id: await tool("switch_lamp", "on", "boolean") },
	];
	return post("configs", {
		name: "hook",
		evi_version: "3",
		voice: { name: "joe" },
		prompt: { text: "You work at the desk." },
		tools,
		interruption: { min_interruption_ms: 400 },
	});
}

// serve builds the page and serves it at an address that counts as secure.
async function serve() {
	const built = await esbuild.build({
		entryPoints: [path.join(__dirname, "hook", "page.jsx")],
		nodePaths: [path.join(CLIENT, "node_modules")],
		bundle: true,
		write: false,
		jsx: "automatic",
		platform: "browser",
		define: { "process.env.NODE_ENV": '"production"' },
		logLevel: "error",
	});
	const files = {
		"/": [
			"text/html; charset=utf-8",
			'<!doctype html><title>Talk</title><div id="root"></div><script src="page.js"></script>',
		],
		"/page.js": ["text/javascript", built.outputFiles[0].text],
	};
	const server = createServer((request, answer) => {
		const [type, text] = files[new URL(request.url, "http://x").pathname] ?? [];
		answer.writeHead(type ? 200 : 404, type ? { "content-type": type } : {}).end(text);
	});
	await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
	return server;
}

async function main() {
	const [config, server, browser] = await Promise.all([makeConfig(), serve(), launch(MICROPHONE)]);
	const page = await browser.newPage();
	page.setDefaultTimeout(180_000);
	const complaints = [];
	page.on("pageerror", (err) => complaints.push(String(err)));
	const law = async (name, run) => {
		try {
			await run();
			console.log(`ok ${name}`);
		} catch (err) {
			const shown = await page.evaluate(() => document.body.innerText).catch(String);
			throw new Error(`${name}; the page says ${shown} ${complaints}`, { cause: err });
		} finally {
			await page.screenshot({ path: SHOT, fullPage: true }).catch(() => {});
		}
	};
	const when = (condition, argument) => page.waitForFunction(condition, argument, { polling: 50 });
	const press = (name) => page.getByRole("button", { name, exact: true }).click();
	const status = (word) => when((word) => document.querySelector("#status").innerText.startsWith(word), word);
	const count = (type) => page.evaluate((type) => window.seen.messages.filter((m) => m.type === type).length, type);
	const more = (type, n) =>
		when(([type, n]) => window.seen.messages.filter((m) => m.type === type).length > n, [type, n]);
	const silent = () =>
		when(() => {
			// for 300 ms: clips are decoded before they are queued
			const quiet = !window.voice.isPlaying && window.voice.playerQueueLength === 0;
			window.quietSince = quiet ? (window.quietSince ?? Date.now()) : undefined;
			return quiet && Date.now() - window.quietSince > 300;
		});
	const spoken = async (run) => {
		// returns the assistant's words that follow run
		const n = await count("assistant_message"),
			ends = await count("assistant_end");
		await run();
		await more("assistant_end", ends);
		await silent();
		return page.evaluate(
			(n) =>
				window.seen.messages
					.filter((m) => m.type === "assistant_message")
					.slice(n)
					.map((m) => m.message.content)
					.join(" "),
			n,
		);
	};
	let group;

	const at = new URLSearchParams({ box: BOX_URL, key: API_KEY, config });
	await page.goto(`http://127.0.0.1:${server.address().port}/?${at}`);

	await law("it connects", async () => {
		await press("Connect");
		await page.evaluate(() => window.connecting);
		await status("connected");
		const metadata = await page.evaluate(() => window.voice.chatMetadata);
		group = metadata.chatGroupId;
		assert.ok(metadata.chatId && group && metadata.requestId);
		assert.equal(await page.evaluate(() => window.voice.readyState), "open");
	});
	await law("speech is transcribed, and a tool is called", async () => {
		await when(() => window.seen.calls.length > 0);
		const { call, user } = await page.evaluate(() => ({
			call: window.seen.calls[0],
			user: window.voice.lastUserMessage,
		}));
		assert.deepEqual(
			[call.name, call.parameters, call.responseRequired, call.toolType],
			["press_key", '{"key":"pound"}', true, "function"],
		);
		assert.match(user.message.content, recordedWords);
		assert.equal(
			await page.evaluate(() => window.voice.messages.filter((m) => m.type === "user_message").length),
			1,
			"interim messages stay",
		);
	});
	await law("the answer plays", async () => {
		await when(() => window.voice.isPlaying && window.seen.starts.length > 0);
		const shown = await page.evaluate(() =>
			window.voice.messages.filter((m) => m.type === "assistant_message").map((m) => m.message.content),
		);
		assert.match(shown[0], /^The key/);
	});
	await law("a voice interrupts", async () => {
		await when(() => window.seen.interruptions.length > 0);
		await when(() => window.seen.messages.some((m) => m.type === "user_interruption"));
		await when(() => window.voice.lastVoiceMessage.message.content.startsWith("You said: "));
		assert.ok(
			await page.evaluate(() => !window.voice.messages.some((m) => m.message?.content?.includes("town hall"))),
			"the interrupted story continued",
		);
		await when(() => {
			// else a pause between clips of a busy box counts as the end
			const came = window.seen.messages;
			return came
				.slice(came.findLastIndex((m) => m.message?.content.startsWith("You said: ")))
				.some((m) => m.type === "assistant_end");
		});
		await silent();
	});
	await law("a typed message is answered, and a tool fails", async () => {
		assert.equal(
			await spoken(() => page.evaluate(() => window.voice.sendUserInput("Switch the lamp on."))),
			"The tool says: There is no lamp here.",
		);
		assert.equal(await page.evaluate(() => Object.keys(window.voice.toolStatusStore).length), 2);
	});
	await law("assistant input is spoken", async () => {
		assert.equal(
			await spoken(() => page.evaluate(() => window.voice.sendAssistantInput("One moment."))),
			"One moment.",
		);
	});
	await law("it pauses", async () => {
		await press("Pause");
		await when(() => window.voice.isPaused);
		const n = await count("user_message");
		await page.evaluate(() => window.voice.sendUserInput("My name is Ada."));
		await more("user_message", n);
		const before = await count("assistant_message");
		await new Promise((later) => setTimeout(later, 1_000));
		assert.equal(await count("assistant_message"), before);
		assert.equal(await spoken(() => press("Pause")), "You said: My name is Ada.");
	});
	await law("session settings apply", async () => {
		const n = await count("user_message");
		await page.evaluate(() =>
			window.voice.sendSessionSettings({ type: "session_settings", customSessionId: "mine" }),
		);
		await spoken(() => page.evaluate(() => window.voice.sendUserInput("Hello.")));
		assert.equal(
			await page.evaluate(
				(n) => window.seen.messages.filter((m) => m.type === "user_message")[n].customSessionId,
				n,
			),
			"mine",
		);
	});
	await law("it disconnects", async () => {
		await press("Disconnect");
		await page.evaluate(() => window.disconnecting);
		await status("disconnected");
		await when(() => window.seen.closes.length > 0);
		assert.deepEqual(await page.evaluate(() => window.seen.errors), []);
	});
	await law("the chat group is resumed, and a muted microphone is silent", async () => {
		await new Promise((later) => setTimeout(later, 500)); // the box sees the end of a chat a moment after us
		await page.evaluate((group) => {
			window.options.resumedChatGroupId = group;
		}, group);
		await press("Connect");
		await status("connected");
		await press("Mute");
		await when((group) => window.voice.isMuted && window.voice.chatMetadata?.chatGroupId === group, group);
		const n = await count("user_message");
		const said = await spoken(() => page.evaluate(() => window.voice.sendUserInput("What do you remember?")));
		for (const what of [recordedWords, /Tell the story/, /There is no lamp here/, /My name is Ada/])
			assert.match(said, what);
		assert.equal(await count("user_message"), n + 1, "the microphone was heard");
		await press("Disconnect");
		await status("disconnected");
	});
	await law("an unknown config is reported", async () => {
		await page.evaluate(() => {
			Object.assign(window.options, {
				configId: "00000000-0000-4000-8000-000000000000",
				resumedChatGroupId: undefined,
			});
		});
		await press("Connect");
		await when(() => window.seen.errors.length > 0);
		const [error] = await page.evaluate(() => window.seen.errors);
		assert.equal(error.reason, "received_assistant_error_message");
		assert.match(error.message, /config/i);
		await status("disconnected");
	});
	assert.deepEqual(complaints, []);
	await browser.close();
	server.close();
	console.log("done");
}

main().then(
	() => process.exit(0),
	(err) => {
		console.error(err);
		process.exit(1);
	},
);
