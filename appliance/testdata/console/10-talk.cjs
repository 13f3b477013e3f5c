// A spoken chat with a tool that the operator answers, an interruption, feelings and latencies; and a
// typed chat.
"use strict";

exports.steps = async (c, { assert }) => {
	const said = (who, text) => c.shows(text, `li[data-who=${who}]:not(.interim)`);
	await c.law("a config with a client tool is created", async () => {
		const tool = await c.ask("POST", "/v0/evi/tools", {
			name: "press_key",
			description: "Press a key",
			parameters: JSON.stringify({ type: "object", properties: { key: { type: "string" } } }),
		});
		assert.equal(tool.status, 201, JSON.stringify(tool.body));
		const config = await c.ask("POST", "/v0/evi/configs", {
			name: "Key keeper",
			evi_version: "4-mini",
			tools: [{ id: tool.body.id }],
		});
		assert.equal(config.status, 201, JSON.stringify(config.body));
		await c.go(`talk?config=${config.body.id}`);
		await c.page.waitForFunction((id) => document.querySelector("select").value === id, config.body.id);
	});
	await c.law("speech is transcribed, and the tool call waits for an answer", async () => {
		await c.press("Start conversation");
		await c.shows("Listening", "[role=status]");
		await c.speak();
		await said("you", /name.*pound key/i);
		await c.shows(/"key": "pound"/);
		await c.shows("waits for you");
		await c.shows("A tool waits for your answer", "[role=status]");
	});
	await c.law("the assistant speaks the tool answer that the operator typed", async () => {
		await c.fill("Answer of press_key", "a story of the key");
		await c.press("Answer");
		await said("box", "village by the sea");
		await c.shows("Speaking", "[role=status]");
		await c.shows("WebRTC", ".tag");
	});
	await c.law("speech during the answer interrupts it, and the next turn follows", async () => {
		await c.speak();
		await c.shows("interrupted", "li[data-who=box]");
		await c.page.waitForFunction(
			() => document.querySelectorAll("li[data-who=you]:not(.interim)").length > 1,
			null,
			{ polling: 50 },
		);
	});
	await c.accessible("a conversation");
	await c.law("the stages of a turn are shown, and add up", async () => {
		await c.page.waitForSelector(".waterfall");
		const rows = await c.page.evaluate(() =>
			[...document.querySelector(".waterfall").querySelectorAll("tbody tr")].map((r) => [
				r.querySelector("th").innerText,
				Number(r.querySelector(".number").innerText),
			]),
		);
		assert.equal(rows.length, 6, JSON.stringify(rows));
		const of = Object.fromEntries(rows),
			sum = rows.slice(1).reduce((all, [, ms]) => all + ms, 0);
		const whole = Number(
			/: (\d+) ms/.exec(await c.page.evaluate(() => document.querySelector(".waterfall caption").innerText))[1],
		);
		assert.ok(
			of["Silence that ends the turn"] > 300 && whole >= of["Silence that ends the turn"],
			JSON.stringify(rows),
		);
		assert.ok(Math.abs(sum - whole) <= 5, `${sum} of ${whole}: ${JSON.stringify(rows)}`);
	});
	await c.law("feelings are shown as a chart and as a table", async () => {
		await c.choose("Whose", "box");
		await c.page.waitForSelector(".chart canvas");
		await c.press("As a table");
		await c.page.waitForFunction(() =>
			[...document.querySelectorAll("section table td")].some((td) => td.innerText.trim()),
		); // a busy box skips some
	});
	await c.law("the conversation ends at the press of a button", async () => {
		await c.press("End conversation");
		await c.shows("The conversation is over");
	});
	await c.law("a typed question is answered, over a WebSocket when WebRTC fails", async () => {
		await c.page.evaluate(() => {
			window.RTC = window.RTCPeerConnection;
			window.RTCPeerConnection = class {
				constructor() {
					throw new Error("none here");
				}
			};
		});
		await c.choose("Config", "");
		await c.fill("Type instead", "Is it open?");
		await c.page.keyboard.press("Enter");
		await said("you", "Is it open?");
		await said("box", /You said/i);
		await c.shows("WebSocket", ".tag");
		await c.shows(/typed: \d+ ms/, "caption");
		await c.page.evaluate(() => {
			window.RTCPeerConnection = window.RTC;
		});
		await c.press("End conversation");
		await c.shows("The conversation is over");
	});
	await c.accessible("after a conversation");
};
