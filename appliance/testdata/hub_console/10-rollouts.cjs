// Something is rolled out to boxes, with a canary first, and taken back.
"use strict";

exports.steps = async (c, { assert }) => {
	const begin = async () => {
		await c.go("rollouts/new");
		await c.field("Config").selectOption({ label: "Guide" });
		await c.choose("To", "group:museum");
	};
	await c.law("a config goes to a canary first", async () => {
		await begin();
		await c.choose("Who runs it first", "names");
		await c.field("museum-2").check();
		await c.accessible("the form of a roll-out");
		await c.press("Begin");
		await c.shows("Config Guide, version 0", "h1");
		await c.shows(/^\s*museum-2[^]*running/, "tr");
		await c.shows("All run it.", "p");
		await c.shows(/^\s*museum-1[^]*waiting/, "tr");
	});
	await c.accessible("a roll-out");
	await c.law("it goes on by hand, and is taken back", async () => {
		await c.press("Continue now");
		await c.press("Continue", "dialog");
		await c.shows("done", ".head .tag");
		await c.shows("2 of 2 boxes run it", "p");
		await c.go("boxes/museum-1");
		await c.shows("Config Guide", "td");
		await c.page.goBack();
		await c.press("Take it back");
		await c.press("Take it back", "dialog");
		await c.shows("stopped", ".head .tag");
		await c.go("rollouts");
		await c.shows("an operator stopped it", "td");
	});
	await c.law("a setting is chosen from what it allows", async () => {
		await c.go("rollouts/new");
		await c.choose("Kind", "setting");
		await c.choose("Setting", "log.level");
		await c.choose("Value", "warn");
		await c.choose("To", "box:lobby-1");
		await c.press("Begin");
		await c.shows("Setting log.level, warn", "h1");
		await c.shows("done", ".head .tag");
	});
	await c.law("the chats of boxes are found by box", async () => {
		await c.go("chats");
		await c.shows("Where is the coat check?", "td");
		await c.choose("Box", "museum-1");
		await c.press("Search");
		await c.shows("No chat found", "h2");
		await c.go("chats?box=lobby-1");
		await c.shows("lobby-1", "td");
	});
	await c.law("the audit log has what happened on the boxes", async () => {
		await c.go("audit");
		await c.press("What happened on the boxes");
		await c.shows("What happened on this hub", "a");
		await c.choose("What", "");
		await c.shows("Applied revision 1 of the hub", "td");
	});
	await c.law("each page of the menu works on a hub", async () => {
		for (const address of await c.page.$$eval("nav#menu a", (all) => all.map((a) => a.hash.slice(2)))) {
			await c.go(address);
			await c.page.waitForFunction(
				(address) =>
					document.querySelector("nav#menu a[aria-current]")?.hash === `#/${address}` &&
					!document.querySelector("main .loading"),
				address,
			);
			const failed = await c.page.$$eval(".failure, main .error", (all) => all.map((e) => e.innerText).join(""));
			assert.equal(failed, "", address);
		}
	});
};
