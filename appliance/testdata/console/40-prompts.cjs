// A prompt is written, tried before it is saved, changed, restored and deleted.
"use strict";

exports.steps = async (c, { assert }) => {
	const chats = async () => (await c.ask("GET", "/v0/box/chats?limit=100")).body.chats.map((chat) => chat.id);
	const before = await chats();
	await c.law("an empty list explains what a prompt is", async () => {
		await c.go("prompts");
		await c.shows("No prompt yet", ".empty");
	});
	await c.law("the form builds the text of a prompt", async () => {
		await c.press("New prompt");
		await c.fill("Name", "Clock Museum");
		await c.fill("Role", "You are the voice at the entrance of the Clock Museum.");
		await c.fill(
			"Facts",
			"On Mondays the museum is closed.\nA ticket for an adult costs 14 dollars.\nclosed Tue\n",
		);
		await c.shows("Line 3 is not a whole sentence", ".advice");
		await c.fill("Facts", "On Mondays the museum is closed.\nA ticket for an adult costs 14 dollars.");
		await c.press("Add an example");
		await c.fill("Question 1", "Are you open on Monday?");
		await c.fill("Answer 1", "No, on Mondays we are closed.");
		await c.press("Text of the prompt");
		const facts = /Museum\.\n\nFacts:\n- On Mondays the museum is closed\.\n- A ticket[^\n]*\n\n/;
		const examples = /Examples:\nQuestion: Are you open on Monday\?\nAnswer: No/;
		await c.shows(new RegExp(facts.source + examples.source), "pre");
	});
	await c.law("right-to-left text is shown from right to left", async () => {
		await c.fill("Rules", "المتحف مغلق.");
		assert.equal(await c.field("Rules").evaluate((e) => getComputedStyle(e).direction), "rtl");
		await c.fill("Rules", "");
	});
	await c.law("a question is answered with the unsaved prompt, and its latency is shown", async () => {
		await c.fill("Question", "Is it open on Monday?");
		await c.press("Ask");
		await c.shows("You said: Is it open on Monday?", ".bubble.box");
		await c.shows(/First words after [\d.]+ s, first sound after [\d.]+ s, all after/);
	});
	await c.accessible("a prompt");
	await c.law("a trial is not stored", async () => {
		assert.deepEqual(await chats(), before);
		assert.deepEqual((await c.ask("GET", "/v0/evi/prompts")).body.prompts_page, []);
	});
	await c.law("the prompt is saved, and opens as a form again", async () => {
		await c.press("Make this prompt");
		await c.shows("Version 0");
		await c.go("prompts");
		await c.press("Clock Museum");
		await c.page.waitForFunction(() => document.querySelectorAll("textarea")[1]?.value.startsWith("On Mondays"));
	});
	await c.law("a new version of a prompt shows its changes", async () => {
		await c.fill("Rules", "Send who asks for a refund to the ticket desk.");
		await c.fill("Version note", "refunds");
		await c.press("Save");
		await c.shows("Version 1");
		await c.shows("- Send who asks for a refund", ".difference .added");
	});
	await c.accessible("the versions of a prompt");
	await c.law("restoring a version keeps all versions", async () => {
		await c.press("Go back to version 0");
		await c.shows("Version 2");
		const { body } = await c.ask("GET", "/v0/evi/prompts?restrict_to_most_recent=false");
		assert.equal(body.prompts_page.length, 3);
		assert.equal(body.prompts_page[2].text, body.prompts_page[0].text);
		assert.equal(body.prompts_page[2].version_description, "as version 0");
	});
	await c.law("a text without the layout of the form opens as text", async () => {
		await c.ask("POST", "/v0/evi/prompts", { name: "Plain", text: "Facts:\n* another list" });
		await c.go("prompts");
		await c.press("Plain");
		await c.shows("does not have the layout of the form");
		assert.equal(await c.page.evaluate(() => document.querySelector("textarea").value), "Facts:\n* another list");
	});
	await c.law("Back asks before unsaved changes are lost", async () => {
		const asked = [];
		const answers = (d) => {
			asked.push(d.message());
			return asked.length === 1 ? d.dismiss() : d.accept();
		};
		c.page.on("dialog", answers);
		await c.fill("Version note", "nothing");
		await c.fill("Name", "Plainer");
		await c.page.evaluate(() => history.back());
		while (asked.length === 0) await new Promise((later) => setTimeout(later, 20));
		await c.page.waitForFunction(() => location.hash !== "#/prompts");
		assert.equal(await c.page.$eval("form input", (e) => e.value), "Plainer");
		await c.page.evaluate(() => history.back());
		await c.shows("Prompts", "h1");
		c.page.off("dialog", answers);
		assert.equal(asked.length, 2, asked.join());
	});
	await c.law("HTML in a name is shown as text", async () => {
		await c.ask("POST", "/v0/evi/prompts", {
			name: "<img src=x onerror=alert(1)>",
			text: "<script>alert(2)</script>",
		});
		await c.go("talk");
		await c.go("prompts");
		await c.shows("<img src=x onerror=alert(1)>", "td");
		assert.equal(await c.page.$$eval("main img, main script", (all) => all.length), 0);
		const { body } = await c.ask("GET", "/v0/evi/prompts");
		await c.ask("DELETE", `/v0/evi/prompts/${body.prompts_page.find((p) => p.name.startsWith("<")).id}`);
		await c.press("Plain", "main table");
		await c.shows("does not have the layout of the form");
	});
	await c.law("an error of a prompt is shown at its field", async () => {
		await c.fill("Name", "x".repeat(74));
		await c.page.evaluate(() => document.querySelector("input[maxlength]").removeAttribute("maxlength"));
		await c.fill("Name", "x".repeat(80));
		await c.press("Save");
		await c.shows("74", ".field .error");
	});
	await c.law("a prompt is deleted after a confirmation", async () => {
		await c.press("Delete");
		await c.press("Delete", "dialog");
		await c.shows("Clock Museum", "main table");
		assert.equal((await c.ask("GET", "/v0/evi/prompts?name=Plain")).body.prompts_page.length, 0);
	});
};
