// The audit log shows who did what, is filtered and searched, and is downloaded as a table.
"use strict";

exports.steps = async (c, { assert }) => {
	await c.law("the audit log has the acts of this browser", async () => {
		await c.go("audit");
		await c.shows(/Console session/, "td");
		await c.accessible("the audit log");
	});
	await c.law("the audit log is filtered and searched", async () => {
		await c.fill("Search", "no act has these words");
		await c.shows("Nothing found", "h2");
		await c.fill("Search", "signed in");
		await c.shows("Signed in to the console", "td");
	});
	await c.law("the audit log is downloaded as a table", async () => {
		const href = await c.page.$eval("a[download]", (a) => a.getAttribute("href"));
		const text = await c.page.evaluate(async (href) => (await fetch(href)).text(), href);
		assert.match(text, /^id,time,actor,/);
		assert.match(text, /session\.sign_in/);
	});
};
