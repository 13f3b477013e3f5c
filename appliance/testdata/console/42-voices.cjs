// Voices are found, played, designed, saved and deleted.
"use strict";

exports.steps = async (c, { assert }) => {
	await c.law("the library is listed", async () => {
		await c.go("voices");
		await c.shows(/\d+ of \d+ voices/);
	});
	await c.accessible("the voices");
	await c.focusVisible("the voices");
	await c.law("a voice is found and speaks a sentence", async () => {
		await c.fill("Name", "joe");
		await c.shows(/^1 of \d+ voices/, "[role=status]");
		await c.fill("Sample text", "Hello from the console.");
		await c.press("Play Joe");
		await c.page.waitForFunction(
			() =>
				[...document.querySelectorAll("button[aria-pressed=true]")].some((b) =>
					b.textContent.startsWith("Stop"),
				),
			null,
			{ polling: 30 },
		);
	});
	await c.law("a search without results says so", async () => {
		await c.fill("Name", "nobody of that name");
		await c.shows("No voice found", ".empty");
	});
	await c.law("a description produces candidates", async () => {
		await c.press("Design a voice");
		await c.fill("Description", "A deep, slow old man");
		await c.fill("Sample text", "Good morning.");
		await c.choose("Number of candidates", "2");
		await c.press("Make candidates");
		await c.shows("Candidate 2", "h2");
	});
	await c.accessible("designing a voice");
	await c.law("a candidate is played, and saved under a free name", async () => {
		await c.press("Play candidate 2");
		await c.fill("Save candidate 2 as", "Joe");
		await c.press("Save", ".voices li:nth-child(2)");
		await c.shows(/Joe/, ".field .error, .row .error");
		await c.fill("Save candidate 2 as", "Keeper");
		await c.press("Save", ".voices li:nth-child(2)");
		await c.shows("Saved as Keeper");
	});
	await c.law("a stand-in speaks for a missing voice until it is removed", async () => {
		const spoken = () =>
			c.ask("POST", "/v0/tts", {
				utterances: [{ text: "Hello.", voice: { name: "gazza/1", provider: "HUME_AI" } }],
			});
		assert.equal((await spoken()).status, 404);
		await c.go("voices");
		await c.press("Stand-ins");
		await c.shows(/Ava Song/, "table");
		await c.fill("Requested name or id", "Joe");
		await c.press("Save");
		await c.shows(/needs no stand-in/, ".field .error");
		await c.fill("Requested name or id", "Gazza/1");
		await c.choose("Stand-in", "voice-joe");
		await c.press("Save");
		await c.shows("Joe stands in for Gazza/1.", "[role=status]");
		assert.equal((await spoken()).status, 200);
		await c.accessible("names of other voices");
		await c.press("Remove Gazza/1");
		await c.shows("The stand-in for Gazza/1 was removed.", "[role=status]");
		assert.equal((await spoken()).status, 404);
	});
	await c.law("a voice in use is not deleted, and the error names the config", async () => {
		assert.equal(
			(
				await c.ask("POST", "/v0/evi/configs", {
					name: "Tower",
					evi_version: "4-mini",
					voice: { name: "Keeper" },
				})
			).status,
			201,
		);
		await c.go("voices");
		await c.shows("Used by Tower", "li");
		await c.press("Delete Keeper");
		await c.press("Delete", "dialog");
		await c.shows("Tower", "dialog .error");
		await c.press("Cancel");
		const { body } = await c.ask("GET", "/v0/evi/configs?name=Tower");
		await c.ask("DELETE", `/v0/evi/configs/${body.configs_page[0].id}`);
		await c.press("Delete Keeper");
		await c.press("Delete", "dialog");
		await c.page.waitForFunction(
			() =>
				!document.querySelector("dialog") &&
				![...document.querySelectorAll("h2")].some((h) => h.innerText === "Keeper"),
		);
	});
};
