// A link signs a browser in once; without a link nobody gets in.
"use strict";

exports.steps = async (c, { link, assert }) => {
	await c.law("who is not signed in is asked for a link", async () => {
		await c.page.goto(c.url);
		await c.reads("parley console");
	});
	await c.accessible("the sign-in");
	await c.law("a wrong link is told", async () => {
		await c.fill("Link", "nonsense");
		await c.press("Sign in");
		await c.reads("unknown, was used, or has expired");
	});
	await c.law("a link signs in", async () => {
		await c.page.goto("about:blank");
		await c.page.goto(link);
		await c.page.waitForSelector("nav#menu");
	});
	await c.law("an address that names no page says so", async () => {
		await c.go("nowhere");
		await c.reads("Page not found", "h1");
	});
	await c.law("the link stays neither in the address nor in what scripts can read", async () => {
		const secret = link.split("=")[1];
		const seen = await c.page.evaluate(
			() => location.href + document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage),
		);
		assert.ok(!seen.includes(secret) && !/parley-/.test(seen), seen);
		const [cookie] = await c.context.cookies();
		assert.ok(cookie.httpOnly && cookie.sameSite === "Strict" && cookie.expires > 0, JSON.stringify(cookie));
	});
	await c.law("a link works once", async () => {
		const again = await c.ask("POST", "/v0/box/sessions", { link: link.split("=")[1] });
		assert.equal(again.status, 401);
	});
};
