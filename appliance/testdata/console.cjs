// Opens the console of a box in a real browser, whose microphone plays a recording, and uses its
// pages. Each file in console/ tests a page: it exports steps(c), and they run in the order of
// their names. Prints a line for each check that passes, and exits with 1 at the first that fails.
// The folder SHOTS gets screenshots, if it is set. The folder STEPS has other files, for the console of a hub or of its box.
//
// ONLY=20-keys.cjs in the environment runs that file alone, signed in.
"use strict";
const assert = require("node:assert/strict");
const fs = require("node:fs");
const { createRequire } = require("node:module");
const path = require("node:path");
const { launch } = require("./browser.cjs");
const { BOX_URL, LINK, LINKS_AGAIN = "", CLIENT, MICROPHONE, SHOTS, ONLY, STEPS = "console" } = process.env;
const axe = createRequire(CLIENT + "/client.cjs")("axe-core").source;

// literal returns the source of an expression that matches a text exactly.
const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// Console is the argument of the steps.
class Console {
	constructor(context, page) {
		this.context = context;
		this.page = page;
		this.url = BOX_URL;
		this.complaints = [];
		this.foreignRequests = [];
		page.on("pageerror", (err) => this.complaints.push(String(err)));
		page.on("console", (m) => {
			if (/Content Security|Refused to/i.test(m.text())) this.complaints.push(m.text());
		});
		page.on("request", (r) => {
			if (/^(https?|wss?):/.test(r.url()) && new URL(r.url()).host !== new URL(BOX_URL).host)
				this.foreignRequests.push(r.url());
		});
	}

	// law runs a check, prints that it passed, and takes a screenshot.
	async law(name, run) {
		try {
			await run();
			assert.deepEqual(this.complaints, []);
			assert.deepEqual(this.foreignRequests, [], "the console sends requests to other hosts");
			console.log(`ok ${name}`);
		} catch (err) {
			const text = await this.page.evaluate(() => document.body.innerText).catch(String);
			throw new Error(`${name}; the page says ${text} ${this.complaints}`, { cause: err });
		} finally {
			await this.shot(name);
		}
	}

	shot(name) {
		return (
			SHOTS &&
			this.page
				.screenshot({
					path: path.join(SHOTS, name.replace(/\W+/g, "-").slice(0, 100) + ".png"),
					fullPage: true,
				})
				.catch(() => {})
		);
	}

	// go opens a page of the console by its address, such as "keys", as the menu does.
	async go(address) {
		await this.page.evaluate((to) => {
			location.hash = "#/" + to;
		}, address);
		await this.page.waitForSelector("main h1");
	}

	// shows waits until the page, or what selector finds, shows a text.
	shows(text, selector = "body") {
		return this.page.waitForFunction(
			([selector, source, flags]) =>
				[...document.querySelectorAll(selector)].some((e) => new RegExp(source, flags).test(e.innerText)),
			text instanceof RegExp ? [selector, text.source, text.flags] : [selector, literal(text), ""],
			{ polling: 50 },
		);
	}

	// pressable returns the first button or link with an accessible name, within what selector
	// finds.
	pressable(name, within = "body") {
		const frame = this.page.locator(within),
			called = { name, exact: true, disabled: false };
		return frame
			.getByRole("button", called)
			.or(frame.getByRole("link", called))
			.or(frame.getByRole("tab", called))
			.or(frame.locator("summary").filter({ hasText: new RegExp(`^\\s*${literal(name)}\\s*$`) }))
			.first();
	}

	// field returns the first field with a label.
	field(label, within = "body") {
		return this.page.locator(within).getByLabel(label, { exact: true }).first();
	}

	// press presses the button, or follows the link, with a name.
	press(name, within) {
		return this.pressable(name, within).click();
	}

	// fill replaces the text in the field with a label.
	fill(label, text, within) {
		return this.field(label, within).fill(text);
	}

	// choose selects an option, by its value, in the field with a label.
	choose(label, value, within) {
		return this.field(label, within).selectOption(value);
	}

	// ask sends a request to the API as the page does, and returns status and body.
	ask(method, url, body) {
		return this.page.evaluate(
			async ([method, url, body]) => {
				const res = await fetch(url, {
					method,
					headers: body ? { "content-type": "application/json" } : {},
					body: body && JSON.stringify(body),
				});
				return { status: res.status, body: await res.json().catch(() => null) };
			},
			[method, url, body],
		);
	}

	// speak plays the recording into the microphone once.
	speak() {
		return this.page.evaluate(() => window.speak());
	}

	// accessible checks the current page against WCAG 2.2 AA as far as a program can, also with the
	// colours of the dark theme, and that the page fits the width of a phone. axe need not load the
	// page's resources: the styles are inline by then, and no sound starts by itself.
	accessible(what) {
		return this.law(`${what}: no accessibility violations`, async () => {
			for (const [scheme, runOnly] of [
				["light", ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]],
				["dark", { type: "rule", values: ["color-contrast"] }],
			]) {
				await this.page.emulateMedia({ colorScheme: scheme });
				// Colours change gradually.
				await this.page.evaluate(() => Promise.allSettled(document.getAnimations().map((a) => a.finished)));
				if (!(await this.page.evaluate(() => "axe" in window))) await this.page.evaluate(axe);
				const found = await this.page.evaluate(
					async (runOnly) =>
						(
							await axe.run(document, { runOnly, resultTypes: ["violations"], preload: false })
						).violations.map((v) => `${v.id}: ${v.help}: ${v.nodes.map((n) => n.html).join(" ")}`),
					runOnly,
				);
				await this.shot(`${what} ${scheme}`);
				assert.deepEqual(found, [], scheme);
			}
			await this.page.emulateMedia({ colorScheme: null });
			await this.page.setViewportSize({ width: 320, height: 700 });
			await this.page.evaluate(
				() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))),
			); // charts take the new width with the next frame
			await this.shot(`${what} phone`);
			const wide = await this.page.evaluate(() => document.documentElement.scrollWidth);
			await this.page.setViewportSize({ width: 1280, height: 900 });
			assert.ok(wide <= 320, `the page is ${wide} pixels wide on a phone`);
		});
	}

	// focusVisible moves through the page by keyboard, forwards and backwards, in a window of 320 x 500
	// pixels: the bar at the top and the save bar of a form must not cover the focused element.
	focusVisible(what) {
		return this.law(`${what}: the focused element stays visible`, async () => {
			await this.page.setViewportSize({ width: 320, height: 500 });
			const behind = [];
			for (const key of ["Tab", "Shift+Tab"]) {
				for (let presses = 0; presses < 50; presses++) {
					await this.page.keyboard.press(key);
					const hidden = await this.page.evaluate(() => {
						const e = document.activeElement,
							{ left, top, width, height } = e.getBoundingClientRect();
						const over = [3, height / 2, height - 3].map((y) =>
							document.elementFromPoint(left + width / 2, top + y)?.closest(".top, .save"),
						);
						return over.every((cover) => cover && !cover.contains(e)) && e.outerHTML.slice(0, 100);
					});
					if (hidden) behind.push(`${key} ${hidden}`);
				}
			}
			await this.page.setViewportSize({ width: 1280, height: 900 });
			assert.deepEqual(behind, []);
		});
	}
}

// installMicrophone gives the page a microphone that is silent until the test plays the recording, so
// that no test waits for a position in a file.
async function installMicrophone(page) {
	await page.addInitScript((wav) => {
		if (!navigator.mediaDevices) return; // not a page of the box
		const context = new AudioContext({ sampleRate: 48_000 }),
			microphone = context.createMediaStreamDestination();
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
	const browser = await launch();
	const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
	const page = await context.newPage();
	page.setDefaultTimeout(120_000); // busy machines load voices slowly
	if (MICROPHONE) await installMicrophone(page);
	const c = new Console(context, page);
	const files = fs
		.readdirSync(path.join(__dirname, STEPS))
		.filter((f) => f.endsWith(".cjs"))
		.sort();
	for (const file of files) {
		if (ONLY && file !== ONLY && file !== files[0]) continue;
		await require(path.join(__dirname, STEPS, file)).steps(c, {
			link: LINK,
			again: LINKS_AGAIN.split(" "),
			assert,
		});
	}
	await browser.close();
	console.log("done");
}

main().catch((err) => {
	console.error(err);
	process.exit(1);
});
