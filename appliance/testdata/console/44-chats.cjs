// A chat is found by its text, read, played and deleted.
"use strict";

// holdChat holds a chat over the socket as a client does: it answers a tool call and then asks a
// question, each after the answer before was played. It returns the id of the chat.
const holdChat = (c, config) =>
	c.page.evaluate(
		(config) =>
			new Promise((done, fails) => {
				const ws = new WebSocket(
					`${location.origin.replace("http", "ws")}/v0/evi/chat?config_id=${config}` +
						"&session_settings[custom_session_id]=till-7",
				);
				const send = (m) => ws.send(JSON.stringify(m));
				const asks = ["use lamp", "Where is the <Lighthouse>?"];
				let id,
					heard = 0;
				ws.onerror = () => fails(new Error("no socket"));
				ws.onmessage = ({ data }) => {
					const m = JSON.parse(data);
					if (m.type === "error") fails(new Error(m.message));
					if (m.type === "chat_metadata") id = m.chat_id;
					if (m.type === "tool_call")
						send({ type: "tool_response", tool_call_id: m.tool_call_id, content: "The lamp is on." });
					if (m.type === "audio_output")
						heard = Math.max(heard, performance.now()) + (atob(m.data).length - 44) / 96; // 48 kHz, 16 bits
					if (m.type !== "assistant_end") return;
					setTimeout(
						() => (asks.length > 0 ? send({ type: "user_input", text: asks.shift() }) : ws.close(1000)),
						heard - performance.now() + 300,
					);
				};
				ws.onclose = () => done(id);
			}),
		config,
	);

exports.steps = async (c, { assert }) => {
	let id;
	await c.law("a chat is found by its spoken words", async () => {
		const { body } = await c.ask("GET", "/v0/evi/configs?name=Museum");
		id = await holdChat(c, body.configs_page[0].id);
		await c.go("chats");
		await c.shows("till-7", "main table");
		await c.shows(/^\w+ \d+, \d+:\d\d [AP]M$/, "main table time"); // the hour too
		await c.fill("Spoken words", "elephant");
		await c.press("Search");
		await c.shows("No chat found", ".empty");
		await c.fill("Spoken words", "LIGHTHOUSE where");
		await c.press("Search");
		await c.shows("Lighthouse", "main table mark");
	});
	await c.accessible("the chats");
	await c.law("Back from a chat returns to its row, with the older chats still shown", async () => {
		let first;
		await c.page.route("**/v0/box/chats?*", async (route) => {
			// the box has fewer chats than a page shows
			if (new URL(route.request().url()).searchParams.has("before"))
				return route.fulfill({ json: { chats: first.map((chat) => ({ ...chat, id: `older-${chat.id}` })) } });
			first = (await (await route.fetch()).json()).chats;
			await route.fulfill({ json: { chats: first, next: id } });
		});
		await c.press("Search");
		await c.page.getByRole("button", { name: "Show older" }).click();
		await c.page.locator("main table a[href*=older]").first().click();
		await c.shows("no chat", "main");
		await c.page.goBack();
		await c.page.waitForFunction(() => document.activeElement.matches("main table a[href*=older]"));
		await c.page.unroute("**/v0/box/chats?*");
	});
	await c.law("Back from a chat, and the link to all chats, return to the search results", async () => {
		const found = async () => {
			await c.shows("Lighthouse", "main table mark");
			assert.equal(await c.field("Spoken words").inputValue(), "LIGHTHOUSE where");
		};
		await c.page.click("main table a");
		await c.shows("Lighthouse", "[data-who=user] mark");
		await c.page.goBack();
		await found();
		await c.page.click("main table a");
		await c.press("All chats");
		await found();
	});
	await c.law("opening a chat by keyboard moves the focus to its page", async () => {
		await c.page.locator("main table a").first().press("Enter");
		await c.page.waitForFunction(() => document.activeElement.id === "main");
	});
	await c.law("the transcript shows the messages, the tool call and the feelings", async () => {
		await c.shows("Where is the <Lighthouse>?", "[data-who=user]");
		await c.shows("Welcome to the museum.", "[data-who=agent]");
		await c.page.click("[data-who=tool] summary");
		await c.shows("The lamp is on.", "[data-who=tool] pre");
		await c.shows(/\d+ %/, ".feelings");
	});
	await c.law("the recording plays, and the transcript follows", async () => {
		await c.page.waitForFunction(() => document.querySelector("audio")?.readyState >= 1);
		const last = await c.page.$$eval("[data-who=agent] button.at", (all) => all.length);
		assert.ok(last >= 3, `${last} sentences can be played`);
		await c.page.$$eval("[data-who=agent] button.at", (all) => all.at(-1).click());
		await c.page.waitForFunction(
			() => !document.querySelector("audio").paused && document.querySelector("audio").currentTime > 0.2,
		);
		await c.shows("Where is the <Lighthouse>?", "[data-who=agent][aria-current=true]");
		await c.page.$$eval("[data-who=agent] button.at", (all) => all[0].click());
		await c.shows("Welcome to the museum.", "[data-who=agent][aria-current=true]");
		// The sound at the position of the words is not silence.
		const loud = await c.page.evaluate(async () => {
			const wav = await (await fetch(document.querySelector("audio").src)).arrayBuffer();
			const { data, rate } = {
				data: new Int16Array(wav.slice(44, 44 + 2 * Math.floor((wav.byteLength - 44) / 2))),
				rate: 24_000,
			};
			const at = document
				.querySelector("[data-who=agent] button.at")
				.textContent.split(":")
				.reduce((m, s) => 60 * m + Number(s), 0);
			return Math.max(...data.slice(at * rate, (at + 2) * rate).map(Math.abs));
		});
		assert.ok(loud > 1000, `the loudest sample there is ${loud}`);
	});
	await c.accessible("a chat");
	await c.law("a chat too long for the page says so, and is saved whole", async () => {
		const { body } = await c.ask("GET", `/v0/evi/chats/${id}`);
		const said = body.events_page.find((e) => e.type === "USER_MESSAGE");
		await c.page.route(`**/v0/evi/chats/${id}?*`, (route) => {
			const page = Number(new URL(route.request().url()).searchParams.get("page_number"));
			return route.fulfill({
				json: {
					...body,
					total_pages: 52,
					events_page: Array.from({ length: 2 }, (_, i) => ({
						...said,
						id: `${page} ${i}`,
						message_text: `${page} ${i}`,
					})),
				},
			});
		});
		await c.press("Reload");
		await c.shows("The page omits its end", "main p");
		await c.page.evaluate(() => {
			window.saved = undefined;
			const make = URL.createObjectURL.bind(URL);
			URL.createObjectURL = (blob) => {
				window.saved = blob;
				return make(blob);
			};
		});
		await c.press("Save as text");
		await c.page.waitForFunction(() => window.saved);
		assert.match(await c.page.evaluate(() => window.saved.text()), /User: 51 1\n$/);
		await c.page.unroute(`**/v0/evi/chats/${id}?*`);
	});
	await c.law("a chat is deleted after a confirmation", async () => {
		await c.press("Delete");
		await c.press("Delete", "dialog");
		await c.shows("Chats", "h1");
		assert.equal((await c.ask("GET", `/v0/evi/chats/${id}`)).status, 404);
	});
};
