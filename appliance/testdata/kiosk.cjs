// Opens the page of a screen in a real browser, whose microphone plays a recording: a person's
// question, the same question again during the answer, and then silence. Prints a line for each check that
// passes, and exits with 1 at the first that fails. "restart the box" and "revoke the screens" ask
// the Go test for these actions. The folder SHOTS gets screenshots, if it is set.
"use strict";
const assert = require("node:assert/strict");
const { createRequire } = require("node:module");
const path = require("node:path");
const { launch } = require("./browser.cjs");
const { BOX_URL, CODE, SECOND_CODE, CLIENT, MICROPHONE, SHOTS } = process.env;
const axe = createRequire(CLIENT + "/client.cjs")("axe-core").source;

const recordedWords = /tone.*name.*pound key/i; // words of the recording

// open opens a page with a new browser profile, which is another screen for the box.
async function open(browser, url, before = () => {}) {
	const screen = await browser.newContext({ viewport: { width: 800, height: 1100 } });
	const page = await screen.newPage();
	page.setDefaultTimeout(120_000);
	const complaints = [];
	page.on("pageerror", (err) => complaints.push(String(err)));
	page.on("console", (m) => {
		if (m.type() === "error" && /Content Security|Refused/i.test(m.text())) complaints.push(m.text());
	});
	await page.addInitScript(before);
	await page.addInitScript(() => {
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

async function law(p, name, run) {
	try {
		await run();
		assert.deepEqual(p.complaints, []);
		console.log(`ok ${name}`);
	} catch (err) {
		const shown = await p.page.evaluate(() => `${document.body.innerText} ${window.states}`).catch(String);
		throw new Error(`${name}; the page says ${shown} ${p.complaints}`, { cause: err });
	} finally {
		if (SHOTS)
			await p.page.screenshot({ path: path.join(SHOTS, name.replace(/\W+/g, "-") + ".png") }).catch(() => {});
	}
}

const state = (p, word) =>
	p.page.waitForFunction((word) => document.querySelector("#stage").dataset.state === word, word, { polling: 30 });
const line = (p, who, text) =>
	p.page
		.locator(`li[data-who=${who}]:not(.interim)`)
		.filter({ hasText: new RegExp(text, "i") })
		.first()
		.waitFor();
const press = (p, name) => p.page.getByRole("button", { name, exact: true }).click();

// accessible checks the current page against WCAG 2.2 AA, as far as a program can.
const accessible = (p, what) =>
	law(p, `${what}: no accessibility violations`, async () => {
		await p.page.evaluate(axe);
		const found = await p.page.evaluate(async () =>
			(
				await axe.run(document, {
					runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
				})
			).violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(" ")}`),
		);
		assert.deepEqual(found, []);
	});

async function conversation(p, how) {
	await press(p, "Talk");
	await law(p, `${how}: the question is shown, with its language marked for screen readers`, async () => {
		await line(p, "you", recordedWords.source);
		assert.equal(await p.page.$eval("li[data-who=you]:not(.interim) p", (said) => said.lang), "en");
	});
	await law(p, `${how}: the answer is shown while it plays`, async () => {
		await line(p, "box", "You said");
		await state(p, "speaking");
	});
	await law(p, `${how}: the page went through its states in order`, async () => {
		// States are recorded once a frame: the last may be visible before it is recorded.
		await p.page.waitForFunction(() => /connecting.*listening.*speaking/.test(window.states.join(" ")), null, {
			polling: 50,
		});
	});
}

async function main() {
	const browser = await launch(MICROPHONE);
	let p = await open(browser, `${BOX_URL}/kiosk?lang=de`);
	await law(p, "an unpaired screen asks for a code", async () => {
		await p.page.waitForSelector("#pairing:not([hidden])");
		assert.match(await p.page.evaluate(() => document.body.innerText), /koppeln/i);
	});
	await law(p, "an invalid code is reported", async () => {
		await p.page.getByLabel("Code").pressSequentially("WRONG-CODE");
		await press(p, "Koppeln");
		await p.page.getByRole("alert").filter({ hasText: /\S/ }).waitFor();
	});
	await accessible(p, "the pairing");
	await law(p, "a page in Arabic runs from right to left", async () => {
		await p.page.goto(`${BOX_URL}/kiosk?lang=ar`);
		const [dir, text, label] = await p.page.evaluate(() => [
			getComputedStyle(document.body).direction,
			document.querySelector("h1").innerText,
			document.querySelector("label").getBoundingClientRect().x >
				document.querySelector("#code").getBoundingClientRect().x,
		]);
		assert.ok(dir === "rtl" && /[\u0600-\u06ff]/.test(text) && label, `${dir} ${text}`);
	});
	await p.screen.close();

	p = await open(browser, `${BOX_URL}/kiosk#${CODE}`);
	await law(p, "a code in the address pairs the screen", () => state(p, "ready"));
	await law(p, "the code does not stay in the address", async () => assert.ok(!p.page.url().includes(CODE)));
	await conversation(p, "by WebRTC");
	await accessible(p, "the conversation");
	await law(p, "the key allows conversations only", async () => {
		const status = await p.page.evaluate(
			async () =>
				(
					await fetch("/v0/evi/configs", {
						headers: { "x-service-api-key": JSON.parse(localStorage.getItem("parley.kiosk")).key },
					})
				).status,
		);
		assert.equal(status, 403);
	});
	await law(p, "the key cannot change the system prompt", async () => {
		const code = await p.page.evaluate(
			() =>
				new Promise((resolve, reject) => {
					const key = JSON.parse(localStorage.getItem("parley.kiosk")).key;
					const socket = new WebSocket(`ws://${location.host}/v0/evi/chat?api_key=${key}`);
					socket.onopen = () => socket.send('{"type":"session_settings","system_prompt":"You are a poet."}');
					socket.onmessage = ({ data }) => {
						const m = JSON.parse(data);
						if (m.type !== "error") return;
						resolve(m.code);
						socket.close(1000);
					};
					socket.onclose = ({ reason }) => reject(new Error(reason));
				}),
		);
		assert.equal(code, "E0733");
	});
	await law(p, "Escape ends the conversation", async () => {
		await p.page.keyboard.press("Escape");
		await state(p, "ready");
	});
	await law(p, "a question can be typed", async () => {
		await press(p, "Type instead");
		await p.page.getByLabel("Your question").pressSequentially("Is it open?");
		await p.page.keyboard.press("Enter");
		await line(p, "you", "Is it open");
		await line(p, "box", "You said");
	});
	await law(p, "when the assistant fails, the page tells the visitor what to do, in its language", async () => {
		await p.page.getByLabel("Your question").pressSequentially("break down");
		await p.page.keyboard.press("Enter");
		await line(p, "note", "Something went wrong");
		await line(p, "detail", "E07");
	});
	await law(p, "captions fit on the screen", async () => {
		await p.page.setViewportSize({ width: 800, height: 400 });
		const height = await p.page.evaluate(() => document.documentElement.scrollHeight);
		await p.page.setViewportSize({ width: 800, height: 1100 });
		assert.ok(height <= 400, `${height} pixels`);
	});
	await accessible(p, "typing");
	await law(p, "the page waits for a restarting box, and loads its new version", async () => {
		await p.page.evaluate(() => {
			const originalFetch = window.fetch;
			window.fetch = (url, init) =>
				init?.method === "HEAD"
					? Promise.resolve(new Response(null, { headers: { etag: "of another version" } }))
					: originalFetch(url, init);
			window.old = true;
		});
		console.log("restart the box");
		await state(p, "offline");
		await p.page.waitForFunction(
			() => !window.old && document.querySelector("#stage")?.dataset.state === "ready",
			null,
			{ polling: 50 },
		);
	});
	await p.screen.close();

	p = await open(browser, `${BOX_URL}/kiosk#${SECOND_CODE}`, () => {
		window.RTCPeerConnection = class {
			constructor() {
				throw new Error("none here");
			}
		};
		const later = window.setTimeout;
		window.setTimeout = (run, ms) => later(run, ms === 60_000 ? 600 : ms); // shortens a minute
	});
	await law(p, "a second screen is paired", () => state(p, "ready"));
	await law(p, "the page explains the browser's microphone prompt", async () => {
		await p.page.evaluate(() => {
			window.getUserMedia = navigator.mediaDevices.getUserMedia;
			navigator.mediaDevices.getUserMedia = () => new Promise(() => {});
		});
		await press(p, "Talk");
		await p.page.waitForFunction(() =>
			document.querySelector("#state").innerText.startsWith("Please allow the microphone"),
		);
		await p.page.keyboard.press("Escape");
		await state(p, "ready");
	});
	await law(p, "a refused microphone is reported, and the visitor can type", async () => {
		await p.page.evaluate(() => {
			navigator.mediaDevices.getUserMedia = async () => {
				throw new DOMException("no", "NotAllowedError");
			};
		});
		await press(p, "Talk");
		await line(p, "note", "blocks the microphone for this page");
		await p.page.waitForFunction(
			() =>
				document.activeElement.id === "text" &&
				document.querySelector("#state").innerText === "Type your question",
		);
		await p.page.keyboard.press("Escape");
		await state(p, "ready");
		await p.page.evaluate(() => {
			navigator.mediaDevices.getUserMedia = window.getUserMedia;
		});
	});
	await law(p, "unsent text is cleared for the next visitor", async () => {
		await p.page.getByLabel("Your question").pressSequentially("My name is");
		await p.page.waitForFunction(
			() =>
				document.querySelector("#text").value === "" &&
				document.querySelector("#typing").hidden &&
				document.querySelector("#lines").children.length === 0,
		);
	});
	await conversation(p, "by a socket");
	await law(p, "a lost network is shown, and the conversation continues when it returns", async () => {
		await p.page.evaluate(() => {
			window.originalFetch = window.fetch;
			window.fetch = () => Promise.reject(new TypeError("no network"));
		});
		await state(p, "connecting");
		await p.page.evaluate(() => {
			window.fetch = window.originalFetch;
		});
		await p.page.waitForFunction(
			() => ["listening", "thinking", "speaking"].includes(document.querySelector("#stage").dataset.state),
			null,
			{ polling: 50 },
		);
	});
	await law(p, "a screen revoked during a conversation asks for a code", async () => {
		console.log("revoke the screens");
		await p.page.waitForSelector("#pairing:not([hidden])");
		assert.match(
			await p.page.evaluate(() => document.querySelector("#pairError").innerText),
			/not paired any more/,
		);
		assert.equal(await p.page.evaluate(() => localStorage.getItem("parley.kiosk")), null);
	});
	await law(p, "a pairing by another tab is adopted, and a late refusal does not delete it", async () => {
		const other = await p.screen.newPage();
		await other.goto(`${BOX_URL}/kiosk`);
		const pairAs = (key) =>
			other.evaluate((key) => localStorage.setItem("parley.kiosk", JSON.stringify({ key, name: key })), key);
		await pairAs("Former");
		await p.page.waitForFunction(() => document.querySelector("#name").innerText === "Former", null, {
			polling: 50,
		});
		await p.page.evaluate(() => {
			navigator.mediaDevices.getUserMedia = async () => {
				throw new DOMException("no", "NotFoundError");
			};
			const originalFetch = window.fetch;
			window.fetch = async (...request) => {
				// the refusal reaches the page after the other tab has paired again
				const answer = await originalFetch(...request);
				while (!localStorage.getItem("parley.kiosk")?.includes("Newer"))
					await new Promise((later) => setTimeout(later, 20));
				return answer;
			};
		});
		await p.page.evaluate(() => document.querySelector("#talk").click()); // the box refuses its key
		await pairAs("Newer");
		await p.page.waitForFunction(
			() => document.querySelector("#name").innerText === "Newer" && !document.querySelector("#stage").hidden,
			null,
			{ polling: 50 },
		);
		assert.match(await other.evaluate(() => localStorage.getItem("parley.kiosk")), /Newer/);
	});
	await browser.close();
	console.log("done");
}

main().catch((err) => {
	console.error(err);
	process.exit(1);
});
