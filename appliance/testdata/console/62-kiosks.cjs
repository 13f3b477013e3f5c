// A screen is paired with a code, appears in the list at once, and is revoked.
"use strict";

exports.steps = async (c, { assert }) => {
	await c.law("without screens the page explains how to pair one", async () => {
		await c.go("kiosks");
		await c.shows("No screen is paired");
	});
	await c.law("closing a dialog returns the focus", async () => {
		await c.press("Pair a screen");
		await c.page.waitForSelector("dialog[open]");
		await c.page.keyboard.press("Escape");
		await c.page.waitForFunction(
			() => !document.querySelector("dialog") && document.activeElement.textContent === "Pair a screen",
			null,
			{ polling: 30, timeout: 10_000 },
		);
	});
	await c.law("a code pairs a screen, and the page shows it at once", async () => {
		await c.press("Pair a screen");
		await c.fill("Name", "Foyer", "dialog");
		await c.press("Make a code", "dialog");
		const code = await c.page.locator(".code-shown code").textContent();
		const paired = await c.ask("POST", "/v0/box/kiosks", { code });
		assert.equal(paired.status, 201, JSON.stringify(paired));
		await c.shows("The screen is paired.", "dialog");
		await c.press("Done", "dialog");
		await c.shows("Foyer", "td");
	});
	await c.accessible("the screens");
	await c.law("a screen is revoked", async () => {
		await c.press("Revoke Foyer");
		await c.press("Revoke", "dialog");
		await c.shows("No screen is paired");
	});
};
