// Opens the page of a screen in a real browser, whose microphone is a recording: a
// person's question, the same again into the answer, and then silence. Prints a
// line for each law that holds; ends with 1 at the first that does not. "restart
// the box" and "revoke the screens" ask for that. Views of the page are in the folder SHOTS, if there is one.
"use strict";
const assert = require("node:assert/strict");
const { createRequire } = require("node:module");
const path = require("node:path");
const { BOX_URL, CODE, SECOND_CODE, CLIENT, MICROPHONE, CHROMIUM, SHOTS } = process.env;
const installed = createRequire(CLIENT + "/client.cjs");
const puppeteer = installed("puppeteer-core");
const axe = installed("axe-core").source;

const heardWords = /tone.*name.*pound key/i; // of the recording

const launched = () => puppeteer.launch({
	executablePath: CHROMIUM,
	args: [
		"--no-sandbox", // root has none, and nothing but our own page is opened
		"--disable-gpu", "--mute-audio", "--disable-background-networking", "--disable-component-update",
		"--autoplay-policy=no-user-gesture-required", "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
		`--use-file-for-fake-audio-capture=${MICROPHONE}`,
	],
});

// open opens a page in a profile of its own: another screen.
async function open(browser, url, before = () => {}) {
	const screen = await browser.createBrowserContext();
	const page = await screen.newPage();
	await page.setViewport({ width: 800, height: 1100 });
	page.setDefaultTimeout(120_000);
	const complaints = [];
	page.on("pageerror", (err) => complaints.push(String(err)));
	page.on("console", (m) => { if (m.type() === "error" && /Content Security|Refused/i.test(m.text())) complaints.push(m.text()); });
	await page.evaluateOnNewDocument(before);
	await page.evaluateOnNewDocument(() => {
		window.states = [];
		const look = () => {
			const state = document.querySelector("#stage")?.dataset.state;
			if (state && window.states.at(-1) !== state) window.states.push(state);
			requestAnimationFrame(look);
		};
		look();
	});
	await page.goto(url);
	return { screen, page, complaints };
}

async function law(p, name, does) {
	try {
		await does();
		assert.deepEqual(p.complaints, []);
		console.log(`ok ${name}`);
	} catch (err) {
		throw new Error(`${name}; the page says ${await p.page.evaluate(() => `${document.body.innerText} ${window.states}`).catch(String)} ${p.complaints}`, { cause: err });
	} finally {
		if (SHOTS) await p.page.screenshot({ path: path.join(SHOTS, name.replace(/\W+/g, "-") + ".png") }).catch(() => {});
	}
}

const state = (p, word) => p.page.waitForFunction((word) => document.querySelector("#stage").dataset.state === word, { polling: 30 }, word);
const passed = (p, word) => p.page.waitForFunction((word) => window.states.includes(word), { polling: 50 }, word);
const line = (p, who, text) => p.page.waitForFunction((who, text) => [...document.querySelectorAll(`li[data-who=${who}]:not(.interim)`)].some((li) => new RegExp(text, "i").test(li.innerText)), { polling: 50 }, who, text);

// accessible holds the page as it is now to WCAG 2.2 AA, as far as a program can.
const accessible = (p, what) => law(p, `${what}: nothing keeps anybody out`, async () => {
	await p.page.evaluate(axe);
	const found = await p.page.evaluate(async () => (await axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] })).violations
		.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(" ")}`));
	assert.deepEqual(found, []);
});

async function conversation(p, how) {
	await p.page.click("#talk");
	await law(p, `${how}: what the person says is shown`, () => line(p, "you", heardWords.source));
	await law(p, `${how}: the answer is shown while it is heard`, async () => {
		await line(p, "box", "You said");
		await state(p, "speaking");
	});
	await law(p, `${how}: it went through the states in order`, async () => {
		// They are noted once a frame: the last may be on the stage and not be noted yet.
		await p.page.waitForFunction(() => /connecting.*listening.*speaking/.test(window.states.join(" ")), { polling: 50 });
	});
}

async function main() {
	const browser = await launched();
	let p = await open(browser, `${BOX_URL}/kiosk?lang=de`);
	await law(p, "a screen that is not paired asks for a code", async () => {
		await p.page.waitForSelector("#pairing:not([hidden])");
		assert.match(await p.page.evaluate(() => document.body.innerText), /koppeln/i);
	});
	await law(p, "a wrong code is told", async () => {
		await p.page.type("#code", "WRONG-CODE");
		await p.page.click("#pair button");
		await p.page.waitForFunction(() => document.querySelector("#pairError").innerText !== "");
	});
	await accessible(p, "the pairing");
	await p.screen.close();

	p = await open(browser, `${BOX_URL}/kiosk#${CODE}`);
	await law(p, "a code in the address pairs the screen", () => state(p, "ready"));
	await law(p, "the code does not stay in the address", async () => assert.ok(!p.page.url().includes(CODE)));
	await conversation(p, "by WebRTC");
	await accessible(p, "the conversation");
	await law(p, "the key goes no further than conversations", async () => {
		const status = await p.page.evaluate(async () => (await fetch("/v0/evi/configs", { headers: { "x-service-api-key": JSON.parse(localStorage.getItem("parley.kiosk")).key } })).status);
		assert.equal(status, 403);
	});
	await law(p, "the key does not change who the assistant is", async () => {
		const told = await p.page.evaluate(() => new Promise((told, fails) => {
			const key = JSON.parse(localStorage.getItem("parley.kiosk")).key;
			const socket = new WebSocket(`ws://${location.host}/v0/evi/chat?api_key=${key}`);
			socket.onopen = () => socket.send('{"type":"session_settings","system_prompt":"You are a poet."}');
			socket.onmessage = ({ data }) => {
				const m = JSON.parse(data);
				if (m.type !== "error") return;
				told(m.code);
				socket.close(1000);
			};
			socket.onclose = ({ reason }) => fails(new Error(reason));
		}));
		assert.equal(told, "E0733");
	});
	await law(p, "Escape ends the conversation", async () => {
		await p.page.keyboard.press("Escape");
		await state(p, "ready");
	});
	await law(p, "a question may be typed", async () => {
		await p.page.click("#type");
		await p.page.type("#text", "Is it open?");
		await p.page.keyboard.press("Enter");
		await line(p, "you", "Is it open");
		await line(p, "box", "You said");
	});
	await accessible(p, "typing");
	await law(p, "the page waits for a box that is gone, and comes back with it", async () => {
		console.log("restart the box");
		await state(p, "offline");
		await state(p, "ready");
	});
	await p.screen.close();

	p = await open(browser, `${BOX_URL}/kiosk#${SECOND_CODE}`, () => { window.RTCPeerConnection = class { constructor() { throw new Error("none here"); } }; });
	await law(p, "a second screen is paired", () => state(p, "ready"));
	await law(p, "who may not be heard is told so, and types", async () => {
		await p.page.evaluate(() => {
			window.asked = navigator.mediaDevices.getUserMedia;
			navigator.mediaDevices.getUserMedia = async () => { throw new DOMException("no", "NotAllowedError"); };
		});
		await p.page.click("#talk");
		await line(p, "note", "does not let this page use the microphone");
		await p.page.waitForFunction(() => document.activeElement.id === "text" && document.querySelector("#state").innerText === "Type your question");
		await p.page.keyboard.press("Escape");
		await state(p, "ready");
		await p.page.evaluate(() => { navigator.mediaDevices.getUserMedia = window.asked; });
	});
	await conversation(p, "by a socket");
	await law(p, "a screen that is revoked in a conversation asks for a code", async () => {
		console.log("revoke the screens");
		await p.page.waitForSelector("#pairing:not([hidden])");
		assert.match(await p.page.evaluate(() => document.querySelector("#pairError").innerText), /not paired any more/);
		assert.equal(await p.page.evaluate(() => localStorage.getItem("parley.kiosk")), null);
	});
	await browser.close();
	console.log("done");
}

main().catch((err) => {
	console.error(err);
	process.exit(1);
});
