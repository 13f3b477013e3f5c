// Webhooks that were not delivered are listed with the reason, forgotten and tried
// again; a receiver is tried.
"use strict";

exports.steps = async (c) => {
	await c.law("what was not delivered is listed with why", async () => {
		await c.go("webhooks");
		await c.reads(/webhooks\.allow_private/, "td");
		await c.reads(/given up\s+answered 410 Gone/, "td");
	});
	await c.accessible("the webhooks");
	await c.law("those that were given up are forgotten", async () => {
		await c.press("Forget those given up");
		await c.press("Forget them", "dialog");
		await c.reads("One is forgotten.");
		await c.page.waitForFunction(() => !document.body.innerText.includes("410 Gone"));
	});
	await c.law("those that wait are tried again", async () => {
		await c.press("Try all again");
		await c.reads("One is tried again now.");
		await c.choose("Which", "delivered");
		await c.reads("No webhook is like that");
		await c.choose("Which", "waiting");
		await c.reads("chat_started", "td");
	});
	await c.law("a receiver is tried, and what is wrong with it is said", async () => {
		await c.fill("URL", "https://127.0.0.1:9/hook");
		await c.press("Send it");
		await c.reads("Not delivered:");
		await c.page.waitForFunction(() => document.activeElement.textContent === "Send it"); // which was off meanwhile
		await c.fill("URL", "https://h.example/x#part");
		await c.press("Send it");
		await c.reads("what stands behind #", ".field .error");
	});
};
