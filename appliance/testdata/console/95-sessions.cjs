// The sessions are listed, and end where somebody ends them.
"use strict";

exports.steps = async (c, { assert }) => {
	await c.law("the sessions are listed, this one marked", async () => {
		await c.go("sessions");
		await c.reads(/Chrome on Linux\s+this one/, "td");
	});
	await c.accessible("the sessions");
	await c.law("a session that is ended opens nothing more, and the console asks for a link", async () => {
		await c.press("End the session of Chrome on Linux");
		await c.press("End it", "dialog");
		await c.reads("parley console link");
		assert.equal((await c.ask("GET", "/v0/box/operator")).status, 401);
		assert.equal((await c.browser.defaultBrowserContext().cookies()).length, 0);
	});
};
