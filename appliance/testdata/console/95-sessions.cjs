// Sessions are listed, and end when they are signed out.
"use strict";

exports.steps = async (c, { assert, again }) => {
	await c.law("unsaved text survives the end of the session and a new sign-in", async () => {
		await c.page.reload();
		await c.go("prompts/new");
		await c.fill("Name", "Half a prompt");
		await c.fill("Facts", "The tower is closed.");
		await c.ask("DELETE", `/v0/box/sessions/${(await c.ask("GET", "/v0/box/operator")).body.session.id}`);
		await c.press("Make this prompt");
		await c.shows("parley console");
		assert.equal(await c.page.$eval("nav#menu", (menu) => menu.getClientRects().length), 0);
		await c.fill("Link", again[0], "main.alone");
		await c.press("Sign in");
		await c.page.waitForFunction(() => document.querySelector("nav#menu").getClientRects().length > 0);
		await c.press("Make this prompt");
		await c.shows("Version 0");
		assert.equal(
			(await c.ask("GET", "/v0/evi/prompts?name=Half+a+prompt")).body.prompts_page[0].text,
			"Facts:\n- The tower is closed.",
		);
	});
	await c.law("ending the session ends a conversation, and the console asks for a link", async () => {
		await c.go("talk");
		await c.fill("Type instead", "Is it open?");
		await c.page.keyboard.press("Enter");
		await c.shows(/You said/i, "li[data-who=box]");
		await c.ask("DELETE", `/v0/box/sessions/${(await c.ask("GET", "/v0/box/operator")).body.session.id}`);
		await c.shows("parley console");
		assert.equal(await c.page.$("nav#menu"), null);
		await c.fill("Link", again[1], "main.alone");
		await c.press("Sign in");
		await c.page.waitForSelector("nav#menu");
	});
	await c.law("the sessions are listed, with the current one marked", async () => {
		await c.go("sessions");
		await c.shows(/Chrome on Linux\s+this one/, "td");
	});
	await c.accessible("the sessions");
	await c.law("an ended session has no access, and the console asks for a link", async () => {
		await c.press("End the session of Chrome on Linux");
		await c.press("End", "dialog");
		await c.shows("parley console");
		assert.equal((await c.ask("GET", "/v0/box/operator")).status, 401);
		assert.equal((await c.context.cookies()).length, 0);
	});
};
