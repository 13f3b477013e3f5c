// A plugin is examined, installed, granted, told its settings, called, watched and
// removed.
"use strict";

exports.steps = async (c, { assert }) => {
	const { PLUGIN } = process.env;
	await c.law("without a plugin the page says how one comes", async () => {
		await c.go("plugins");
		await c.reads("No plugin is installed");
	});
	await c.law("a plugin is installed with what it is granted", async () => {
		await c.press("Install a plugin");
		const file = await c.named("File", true, "dialog");
		await file.uploadFile(PLUGIN);
		await c.reads("quiet 1.0.0", "dialog h3");
		await c.reads("It waits for these settings then: key", "dialog");
		await c.accessible("a plugin that is to be installed");
		await c.press("Install it", "dialog");
		await c.reads("quiet", "h1");
		await c.reads("incomplete", ".tag");
	});
	await c.law("it is granted what it asks for, and told a secret that nobody is told again", async () => {
		await c.press("Grant storage");
		await c.named("Revoke storage", false);
		await c.fill("key", "geheim");
		await c.press("Save");
		await c.reads("ready", ".tag");
		assert.ok(!(await c.page.content()).includes("geheim"));
		await c.press("Revoke storage");
		await c.named("Grant storage", false);
	});
	await c.law("its tool is called, which is no call of a chat", async () => {
		await c.press("Call it");
		await c.reads("of memory");
		await c.press("Read anew");
		await c.reads("None yet.");
	});
	await c.law("a wrong call is told", async () => {
		await c.fill("Parameters", "nonsense");
		await c.press("Call it");
		await c.reads("expected a JSON object as text");
	});
	await c.accessible("a plugin");
	await c.law("it is removed", async () => {
		await c.press("Remove");
		await c.press("Remove it", "dialog");
		await c.reads("No plugin is installed");
	});
};
