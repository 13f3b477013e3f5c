// Approved answers are written, tried, and saved as a new version of their config.
"use strict";

exports.steps = async (c, { assert }) => {
	const saved = async () => (await c.ask("GET", "/v0/evi/configs?name=Desk")).body.configs_page[0];
	const texts = "fieldset.answer textarea";
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
		await c.page.locator(texts).first().fill("Where is the café?");
		await c.page.locator(texts).nth(1).fill("The café is on the first floor.");
		await c.shows("where-is-the-cafe", "legend");
	});
	await c.law("an answer is heard before it is saved", async () => {
		await c.press("Listen");
		await c.shows("Stop", "fieldset.answer");
		await c.press("Stop");
	});
	await c.law("an error of the box is shown at its line", async () => {
		await c.page.locator(texts).first().fill(`Where is the café?\n${"x".repeat(201)}`);
		await c.press("Save");
		await c.shows(/Line 2: 201/, "fieldset.answer .error");
		await c.page.locator(texts).first().fill("Where is the café?");
	});
	await c.accessible("answers");
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
};
