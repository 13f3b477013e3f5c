// The boxes of a hub are listed, found, added, changed and removed, and each has a page.
"use strict";

exports.steps = async (c, { link, assert }) => {
	await c.law("the console of a hub opens with its boxes", async () => {
		await c.page.goto(link);
		await c.shows("Boxes", "h1");
		await c.shows(/^\s*museum-1[^]*online/, "tr");
		await c.shows(/^\s*lobby-1[^]*not ready/, "tr");
		const menu = await c.page.$$eval("nav#menu a", (all) => all.map((a) => a.innerText));
		for (const name of ["Boxes", "Roll-outs", "Talk", "Chats", "Configs"]) assert.ok(menu.includes(name), name);
		for (const name of ["Phone", "Packs", "Screens"]) assert.ok(!menu.includes(name), name);
	});
	await c.law("what a box says of itself is text", async () => {
		await c.shows('<img src=x onerror="document.title=\'owned\'">', "td");
		assert.notEqual(await c.page.title(), "owned");
	});
	await c.accessible("the boxes");
	await c.law("boxes are found by name, group and trouble", async () => {
		await c.choose("Group", "museum");
		await c.page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 2);
		await c.field("Only boxes with a problem").check();
		await c.page.waitForFunction(() => document.querySelectorAll("tbody tr").length === 1);
		await c.fill("Name", "nothing");
		await c.shows("No box found", "h2");
	});
	await c.law("a box is added, and its file is shown once", async () => {
		await c.press("Add a box");
		await c.fill("Name", "No Name!", "dialog");
		await c.press("Add the box", "dialog");
		await c.shows(/small letters, digits and hyphens/, "dialog .field .error");
		await c.fill("Name", "attic-1", "dialog");
		await c.fill("Groups", "museum, attic", "dialog");
		await c.press("Add the box", "dialog");
		await c.shows("/etc/parley/attic-1.join", "dialog code");
		await c.accessible("the file of a box");
		const [file] = await Promise.all([
			c.page.waitForEvent("download"),
			c.press("Download attic-1.join", "dialog"),
		]);
		assert.equal(file.suggestedFilename(), "attic-1.join");
		assert.match(require("node:fs").readFileSync(await file.path(), "utf8"), /BEGIN/);
		await c.press("Done", "dialog");
		const again = await c.ask("GET", "/v0/box/fleet/boxes/attic-1");
		assert.deepEqual(again.body.groups, ["attic", "museum"]);
		assert.ok(!(await c.page.content()).includes("BEGIN"));
	});
	await c.law("a box has a page with its figures and charts", async () => {
		await c.go("boxes/museum-2");
		await c.shows("The disk is at 71 °C.", "li");
		await c.shows("80.0 GB free", ".figure");
		await c.page.waitForSelector(".chart canvas");
	});
	await c.accessible("a box");
	await c.law("the groups of a box are changed, and it is removed", async () => {
		await c.go("boxes/attic-1");
		await c.press("Change groups");
		await c.fill("Groups", "attic", "dialog");
		await c.press("Change the groups", "dialog");
		await c.shows("In attic.", "p");
		await c.press("Remove");
		await c.press("Remove the box", "dialog");
		await c.shows("Boxes", "h1");
		await c.page.waitForFunction(() => !document.body.innerText.includes("attic-1"));
	});
};
