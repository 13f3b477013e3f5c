// Undelivered webhooks are listed with the reason, discarded and retried; a receiver is tested.
"use strict";

exports.steps = async (c) => {
	await c.law("undelivered webhooks are listed with the reason", async () => {
		await c.go("webhooks");
		await c.shows(/webhooks\.allow_private/, "td");
		await c.shows(/failed\s+answered 410 Gone/, "td");
	});
	await c.accessible("the webhooks");
	await c.law("failed webhooks are discarded", async () => {
		await c.press("Discard failed");
		await c.press("Discard", "dialog");
		await c.shows("One webhook discarded.");
		await c.page.waitForFunction(() => !document.body.innerText.includes("410 Gone"));
	});
	await c.law("pending webhooks are retried", async () => {
		await c.press("Retry all");
		await c.shows("Retrying one webhook.");
		await c.choose("State", "delivered");
		await c.shows("No webhook found");
		await c.choose("State", "waiting");
		await c.shows("chat_started", "td");
	});
	await c.law("a receiver is tested, and errors are shown", async () => {
		await c.fill("URL", "https://127.0.0.1:9/hook");
		await c.press("Send an example");
		await c.shows("Not delivered:");
		// The button is disabled while the request runs.
		await c.page.waitForFunction(() => document.activeElement.textContent === "Send an example");
		await c.fill("URL", "https://h.example/x#part");
		await c.press("Send an example");
		await c.shows("is not sent to a server", ".field .error");
	});
};
