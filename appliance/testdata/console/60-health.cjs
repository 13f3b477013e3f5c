// How the box does is shown as it goes, and the box examines itself when asked.
"use strict";

exports.steps = async (c, { assert }) => {
	await c.law("the figures of the box are shown", async () => {
		await c.go("health");
		for (const name of ["Answers, median", "Late answers", "Live chats", "Cores that compute", "Calls that wait for cores", "Memory", "Disk", "Webhooks that wait", "Certificate", "Newest backup"]) {
			await c.reads(name, "dt");
		}
		await c.reads("ready", ".tag");
	});
	await c.law("they go on while the page is open", async () => {
		await c.page.waitForSelector(".chart canvas");
		await c.reads(/\d+\.\d of \d+/, "dd"); // of two events
	});
	await c.law("the box is examined when somebody asks", async () => {
		await c.press("Examine the box");
		await c.reads("database", "td");
		await c.reads(/Nothing keeps the box from its work|Something is wrong/);
	});
	await c.accessible("health");
	await c.law("the settings that hold are shown, and found", async () => {
		await c.go("settings");
		await c.reads("--listen", "td");
		await c.fill("Search", "profile");
		await c.page.waitForFunction(() => !document.body.innerText.includes("--listen"));
		await c.reads("PARLEY_PROFILE", "td");
		assert.equal(await c.page.$$eval("h1", (all) => all.length), 1);
	});
	await c.accessible("the settings");
};
