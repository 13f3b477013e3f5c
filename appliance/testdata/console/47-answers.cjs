// Approved answers are written, tried, imported and saved as a new version of their config. What they did not answer
// is reported, and becomes an answer.
"use strict";

// holdChat asks questions over the socket, each after the answer before, and returns the id of the chat.
const holdChat = (c, config, questions) =>
	c.page.evaluate(
		([config, asks]) =>
			new Promise((done, fails) => {
				const ws = new WebSocket(`${location.origin.replace("http", "ws")}/v0/evi/chat?config_id=${config}`);
				const next = () =>
					asks.length > 0 ? ws.send(JSON.stringify({ type: "user_input", text: asks.shift() })) : ws.close(1000);
				let id;
				ws.onerror = () => fails(new Error("no socket"));
				ws.onmessage = ({ data }) => {
					const m = JSON.parse(data);
					if (m.type === "error") fails(new Error(m.message));
					if (m.type === "chat_metadata") id = m.chat_id;
					if (m.type === "chat_metadata" || m.type === "assistant_end") next();
				};
				ws.onclose = () => done(id);
			}),
		[config, questions],
	);

exports.steps = async (c, { assert }) => {
	const saved = async () => (await c.ask("GET", "/v0/evi/configs?name=Desk")).body.configs_page[0];
	const cafe = '[data-key="1"]';
	await c.ask("POST", "/v0/evi/configs", {
		evi_version: "4-mini",
		name: "Desk",
		interruption: { min_interruption_ms: 900 },
	});
	await c.law("answers are written into a table, and get an id", async () => {
		await c.go("answers");
		await c.press("Desk");
		await c.press("Add an answer");
		await c.page.waitForFunction(() => document.activeElement.matches("fieldset.answer textarea"));
		await c.page.keyboard.type("When are you open?\nopening times\n");
		await c.fill("What is said", "We are open from ten to six.");
		await c.press("Add an answer");
		await c.fill("Ways of asking, one a line", "Where is the café?");
		await c.fill("What is said", "The café is on the first floor.", cafe);
		await c.shows("when-are-you-open", "legend");
	});
	await c.law("an answer is heard before it is saved", async () => {
		await c.press("Listen", cafe);
		await c.shows("Stop", cafe);
		await c.press("Stop", cafe);
	});
	await c.law("a question is tried before the answers are saved", async () => {
		await c.fill("Question", "At what time do you open?");
		await c.press("Try");
		await c.shows(/from ten to six\.\s*when-are-you-open fits: \d+ % sure/, ".try");
		await c.fill("Question", "Who won the football match?");
		await c.press("Try");
		await c.shows("No answer fits", ".try");
	});
	await c.law("an error of the box is shown at its line", async () => {
		await c.fill("Ways of asking, one a line", `Where is the café?\n${"x".repeat(201)}`, cafe);
		await c.press("Save");
		await c.shows(/Line 2: 201/, `${cafe} .error`);
		await c.fill("Ways of asking, one a line", "Where is the café?", cafe);
	});
	await c.law("the answers are a new version of the config, which keeps its other fields", async () => {
		await c.press("Save");
		await c.shows("Version 1");
		const made = await saved();
		assert.equal(made.interruption.min_interruption_ms, 900);
		assert.deepEqual(made.answers.items, [
			{ id: "where-is-the-cafe", ask: ["Where is the café?"], say: "The café is on the first floor." },
			{
				id: "when-are-you-open",
				ask: ["When are you open?", "opening times"],
				say: "We are open from ten to six.",
			},
		]);
	});
	await c.law("a sheet shows what it changes, and a conflict between two answers is shown", async () => {
		await c.press("Import CSV");
		const sheet = (text) =>
			c.field("File").setInputFiles({ name: "answers.csv", mimeType: "text/csv", buffer: Buffer.from(text) });
		await sheet(`id,ask,say\nparking,${"x".repeat(201)},In Mill Street.\n`);
		await c.shows(/^row 2, ask: .*201/, "dialog .error");
		await sheet("id,ask,say\nsundays,Opening times?,We are open on Sundays.\n");
		await c.shows("The sheet has 1 answer: 1 new. Nothing is saved yet.", "dialog");
		await c.press("Put into the table", "dialog");
		await c.shows("“opening times” of when-are-you-open and “Opening times?” of sundays", ".conflicts");
		await c.press("sundays", ".conflicts");
		await c.shows("1 of 3 answers");
		await c.press("Delete");
		await c.fill("Search", "");
	});
	await c.accessible("answers");
	let chat;
	await c.law("an answer in the history of a chat leads to its row", async () => {
		chat = await holdChat(c, (await saved()).id, ["When are you open?", "Who won the football match?"]);
		await c.go(`chats/${chat}`);
		await c.press("when-are-you-open", "[data-who=agent]");
		await c.shows(/when-are-you-open given once/, "legend");
	});
	await c.law("what was asked and not answered becomes an answer", async () => {
		await c.press("Asked, and not answered (1)");
		await c.shows("Who won the football match?", "main table");
		assert.match(await c.page.getAttribute("main table a", "href"), new RegExp(chat));
		await c.accessible("what was not answered");
		await c.press("New answer to Who won the football match?");
		await c.page.waitForFunction(() => document.activeElement.matches("textarea"));
		await c.page.keyboard.type("Ask me about clocks.");
		await c.press("Save");
		await c.shows("Version 2");
		assert.equal((await saved()).answers.items[0].say, "Ask me about clocks.");
		await c.press("Asked, and not answered");
		await c.shows("Nothing was left open", ".empty");
	});
};
