// A link signs a browser in once; without a link the console stays closed.
"use strict";

exports.steps = async (c, { link, assert }) => {
	await c.law("a browser without a session is asked for a link", async () => {
		await c.page.goto(c.url);
		await c.shows("parley console");
	});
	await c.accessible("the sign-in");
	await c.law("an invalid link is reported", async () => {
		await c.fill("Link", "nonsense");
		await c.press("Sign in");
		await c.shows("unknown, was used, or has expired");
	});
	await c.law("a link signs in", async () => {
		await c.page.goto("about:blank");
		await c.page.goto(link);
		await c.page.waitForSelector("nav#menu");
	});
	await c.law("an unknown address shows an error page", async () => {
		await c.go("nowhere");
		await c.shows("Page not found", "h1");
	});
	await c.law("the link is neither in the address nor readable by scripts", async () => {
		const secret = link.split("=")[1];
		const seen = await c.page.evaluate(
			() => location.href + document.cookie + JSON.stringify(localStorage) + JSON.stringify(sessionStorage),
		);
		assert.ok(!seen.includes(secret) && !/parley-/.test(seen), seen);
		const [cookie] = await c.context.cookies();
		assert.ok(cookie.httpOnly && cookie.sameSite === "Strict" && cookie.expires > 0, JSON.stringify(cookie));
	});
	await c.law("a link works only once", async () => {
		const again = await c.ask("POST", "/v0/box/sessions", { link: link.split("=")[1] });
		assert.equal(again.status, 401);
	});
};
