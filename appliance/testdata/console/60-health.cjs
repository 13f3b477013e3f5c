// The health page shows live figures and runs the checks on request.
"use strict";

exports.steps = async (c, { assert }) => {
	await c.law("the figures of the box are shown", async () => {
		await c.go("health");
		for (const name of [
			"Answer time, median",
			"Late answers",
			"Live chats",
			"CPU cores in use",
			"Queued calls",
			"Memory",
			"Disk",
			"Pending webhooks",
			"Certificate",
			"Newest backup",
		]) {
			await c.shows(name, "dt");
		}
		await c.shows("ready", ".tag");
	});
	await c.law("the figures update while the page is open", async () => {
		await c.page.waitForSelector(".chart canvas");
		await c.shows(/\d+\.\d of \d+/, "dd"); // needs two events
	});
	await c.law("the checks run on request", async () => {
		await c.press("Check the box");
		await c.shows("database", "td");
		await c.shows(/The box is healthy|The box has problems/);
	});
	await c.accessible("health");
	await c.law("the settings in effect are shown and can be searched", async () => {
		await c.go("settings");
		await c.shows("--listen", "td");
		await c.fill("Search", "profile");
		await c.page.waitForFunction(() => !document.body.innerText.includes("--listen"));
		await c.shows("PARLEY_PROFILE", "td");
		assert.equal(await c.page.$$eval("h1", (all) => all.length), 1);
	});
	await c.accessible("the settings");
};
