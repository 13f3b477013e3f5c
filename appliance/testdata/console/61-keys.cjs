// Keys are created, shown once, given new secrets, and revoked; revoking the last operator key needs a
// second confirmation.
"use strict";

exports.steps = async (c, { assert }) => {
	const shown = () => c.page.$eval("dialog dd code", (e) => e.textContent);
	const accepted = async (key) =>
		(await c.page.evaluate(
			async (key) =>
				(await fetch("/v0/evi/configs", { credentials: "omit", headers: { "x-service-api-key": key } })).status,
			key,
		)) === 200;
	let first;
	await c.law("a key is created and shown once", async () => {
		await c.go("keys");
		await c.press("Make a key");
		await c.fill("Label", "Till", "dialog");
		await c.fill("Account", "shop", "dialog");
		await c.press("Make the key", "dialog");
		await c.shows("Copy these secrets now", "dialog h2");
		first = await shown();
		assert.ok(await accepted(first));
		await c.accessible("a new key");
		await c.press("I have copied them");
		await c.shows("Till", "td");
		const page = await c.page.content();
		assert.ok(!page.includes(first), "the page has the key");
	});
	await c.law("an error of a key is shown at its field", async () => {
		await c.press("Make a key");
		await c.fill("Account", " ", "dialog");
		await c.press("Make the key", "dialog");
		await c.shows(/empty; it needs/, "dialog .field .error");
		await c.press("Cancel", "dialog");
	});
	await c.law("a key is given new secrets", async () => {
		await c.press("New secrets for Till");
		await c.press("Make new secrets", "dialog");
		await c.shows("Copy these secrets now", "dialog h2");
		assert.ok((await accepted(await shown())) && !(await accepted(first)));
		await c.press("I have copied them");
	});
	await c.law("keys can be searched", async () => {
		await c.fill("Search", "nothing like this");
		await c.shows("No key found");
		await c.fill("Search", "till");
		await c.shows("Till", "td");
	});
	await c.accessible("the keys");
	await c.law("a key is revoked", async () => {
		await c.press("Revoke Till");
		await c.press("Revoke", "dialog");
		await c.page.waitForFunction(() => !document.querySelector("dialog"));
		await c.shows("No key found");
	});
	await c.law("revoking the last operator's key needs a confirmation", async () => {
		await c.fill("Search", "first start");
		await c.press("Revoke first start");
		await c.press("Revoke", "dialog");
		await c.shows("last operator's key", "dialog .error");
		await c.field("Revoke the last operator key", "dialog").waitFor();
		await c.press("Cancel", "dialog");
		await c.shows("active", "td");
	});
	await c.law("the signing key of webhooks is shown", async () => {
		await c.press("Webhook signing key");
		await c.press("Show", "dialog");
		await c.page.waitForSelector("dialog .copy code");
		await c.press("Close", "dialog");
	});
};
