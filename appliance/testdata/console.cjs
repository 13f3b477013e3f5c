// Opens the console of a box in a real browser, whose microphone is a recording,
// and uses its pages for what they are for. Each file in console/ is the test of a
// page: it exports steps(c), and they run in the order of their names. Prints a line
// for each law that holds; ends with 1 at the first that does not. A line that begins
// with "! " asks the test for something, and the box or the test does it. Views of
// the pages are in the folder SHOTS, if there is one.
//
// ONLY=20-keys.cjs in the environment runs that file alone, signed in.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const { createRequire } = require("node:module");
const path = require("node:path");
const { BOX_URL, LINK, LINKS_AGAIN, CLIENT, MICROPHONE, CHROMIUM, SHOTS, ONLY } = process.env;
const installed = createRequire(CLIENT + "/client.cjs");
const puppeteer = installed("puppeteer-core");
const axe = installed("axe-core").source;

// What a step is given.
class Console {
	constructor(browser, page) {
		this.browser = browser;
		this.page = page;
		this.url = BOX_URL;
		this.complaints = [];
		this.strangers = [];
		page.on("pageerror", (err) => this.complaints.push(String(err)));
		page.on("console", (m) => { if (/Content Security|Refused to/i.test(m.text())) this.complaints.push(m.text()); });
		page.on("request", (r) => { if (/^(https?|wss?):/.test(r.url()) && new URL(r.url()).host !== new URL(BOX_URL).host) this.strangers.push(r.url()); });
	}

	// law does something and prints that it held. A view of the page then is kept.
	async law(name, does) {
		try {
			await does();
			assert.deepEqual(this.complaints, []);
			assert.deepEqual(this.strangers, [], "the console asks others than the box");
			console.log(`ok ${name}`);
		} catch (err) {
			const says = await this.page.evaluate(() => document.body.innerText).catch(String);
			throw new Error(`${name}; the page says ${says} ${this.complaints}`, { cause: err });
		} finally {
			await this.shot(name);
		}
	}

	shot(name) {
		return SHOTS && this.page.screenshot({ path: path.join(SHOTS, name.replace(/\W+/g, "-").slice(0, 100) + ".png"), fullPage: true }).catch(() => {});
	}

	// go opens a page of the console by its address, such as "keys", as its menu does.
	async go(address) {
		await this.page.evaluate((to) => { location.hash = "#/" + to; }, address);
		await this.page.waitForSelector("main h1");
	}

	// reads waits until the page, or what selector finds, shows a text.
	reads(text, selector = "body") {
		return this.page.waitForFunction((selector, source, flags) => [...document.querySelectorAll(selector)].some((e) => new RegExp(source, flags).test(e.innerText)),
			{ polling: 50 }, selector, text instanceof RegExp ? text.source : text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"), text instanceof RegExp ? text.flags : "");
	}

	// named waits for the element whose name, as it is read out, is that, among those
	// that can be pressed or among the fields; within what selector finds.
	async named(name, fields, within = "body") {
		const at = await this.page.waitForFunction((name, fields, within) => {
			const said = (e) => (e.getAttribute("aria-label") ?? e.textContent).replace(/\s+/g, " ").trim();
			const there = (e) => e.getClientRects().length > 0 && !e.disabled;
			for (const frame of document.querySelectorAll(within)) {
				const found = fields
					? [...frame.querySelectorAll("label")].filter((l) => said(l) === name).map((l) => l.control)
					: [...frame.querySelectorAll("button, a, summary, [role=tab]")].filter((e) => said(e) === name);
				const first = found.find((e) => e && there(e));
				if (first) return first;
			}
			return null;
		}, { polling: 50 }, name, fields, within);
		await at.evaluate((e) => e.scrollIntoView({ block: "center" }));
		return at;
	}

	// press presses the button, or follows the link, of that name.
	async press(name, within) {
		await (await this.named(name, false, within)).click();
	}

	// fill types into the field of that label, in place of what is in it.
	async fill(label, text, within) {
		const at = await this.named(label, true, within);
		await at.evaluate((e) => { e.focus(); e.select?.(); });
		await this.page.keyboard.press("Backspace");
		if (text) await this.page.keyboard.sendCharacter(text); // as one, as from a clipboard
	}

	// choose chooses an option, by its value, in the field of that label.
	async choose(label, value, within) {
		await (await this.named(label, true, within)).select(value);
	}

	// ask asks the API as the page does, and returns status and body.
	ask(method, url, body) {
		return this.page.evaluate(async (method, url, body) => {
			const res = await fetch(url, { method, headers: body ? { "content-type": "application/json" } : {}, body: body && JSON.stringify(body) });
			return { status: res.status, body: await res.json().catch(() => null) };
		}, method, url, body);
	}

	// speak has the microphone hear the recording, once.
	speak() { return this.page.evaluate(() => window.speak()); }

	// accessible holds the page as it is now (nothing that it loads is looked at: its
	// style is in the page by then, and no sound begins by itself) to WCAG 2.2 AA, as far as a program can,
	// by night its colours too, and sees that nothing is wider than a phone.
	accessible(what) {
		return this.law(`${what}: nothing keeps anybody out`, async () => {
			for (const [scheme, runOnly] of [["light", ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]], ["dark", { type: "rule", values: ["color-contrast"] }]]) {
				await this.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
				await this.page.evaluate(() => Promise.allSettled(document.getAnimations().map((a) => a.finished))); // colours change by and by
				if (!await this.page.evaluate(() => "axe" in window)) await this.page.evaluate(axe);
				const found = await this.page.evaluate(async (runOnly) => (await axe.run(document, { runOnly, resultTypes: ["violations"], preload: false })).violations
					.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(" ")}`), runOnly);
				await this.shot(`${what} ${scheme}`);
				assert.deepEqual(found, [], scheme);
			}
			await this.page.emulateMediaFeatures([]);
			await this.page.setViewport({ width: 320, height: 700 });
			await this.page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))); // charts take the new width with the next frame
			await this.shot(`${what} phone`);
			const wide = await this.page.evaluate(() => document.documentElement.scrollWidth);
			await this.page.setViewport({ width: 1280, height: 900 });
			assert.ok(wide <= 320, `the page is ${wide} pixels wide on a phone`);
		});
	}
}

// listens gives the page a microphone that hears a recording when it is told to, and
// silence otherwise: so that nothing waits for its place in a file.
async function listens(page) {
	await page.evaluateOnNewDocument((wav) => {
		if (!navigator.mediaDevices) return; // not of the box
		const context = new AudioContext({ sampleRate: 48_000 }), microphone = context.createMediaStreamDestination();
		const silence = context.createConstantSource();
		silence.offset.value = 0;
		silence.connect(microphone);
		silence.start();
		navigator.mediaDevices.getUserMedia = async () => microphone.stream.clone();
		window.speak = async () => {
			const source = context.createBufferSource();
			source.buffer = await context.decodeAudioData(Uint8Array.from(atob(wav), (c) => c.charCodeAt(0)).buffer);
			source.connect(microphone);
			source.start();
		};
	}, fs.readFileSync(MICROPHONE).toString("base64"));
}

async function main() {
	const browser = await puppeteer.launch({
		executablePath: CHROMIUM,
		args: [
			"--no-sandbox", // root has none, and nothing but our own page is opened
			"--disable-gpu", "--mute-audio", "--disable-background-networking", "--disable-component-update",
			"--autoplay-policy=no-user-gesture-required", "--use-fake-ui-for-media-stream",
		],
	});
	const page = await browser.newPage();
	await page.setViewport({ width: 1280, height: 900 });
	page.setDefaultTimeout(120_000); // voices are loaded, on machines that are busy
	await listens(page);
	const c = new Console(browser, page);
	const files = fs.readdirSync(path.join(__dirname, "console")).filter((f) => f.endsWith(".cjs")).sort();
	for (const file of files) {
		if (ONLY && file !== ONLY && file !== files[0]) continue;
		await require(path.join(__dirname, "console", file)).steps(c, { link: LINK, again: LINKS_AGAIN.split(" "), assert });
	}
	await browser.close();
	console.log("done");
}

main().catch((err) => {
	console.error(err);
	process.exit(1);
});
