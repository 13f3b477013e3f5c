// What the hub of a fleet manages is shown and not changed on the box.
"use strict";

const id = "9f6a1c9e-6a4c-4a39-9b1e-0d8f5f1f0c11";

exports.steps = async (c, { link, assert }) => {
	await c.page.goto(link);
	await c.shows("Talk", "h1");
	await c.law("a prompt that the hub manages says so, and cannot be changed", async () => {
		await c.go(`prompts/${id}`);
		await c.shows("The hub head-office manages this prompt.", ".notice");
		assert.ok(await c.field("Name").isDisabled());
		assert.ok(await c.page.getByRole("button", { name: "Delete" }).isDisabled());
		const { status, body } = await c.ask("PATCH", `/v0/evi/prompts/${id}`, { name: "Mine" });
		assert.equal(status, 409);
		assert.match(body.message, /the hub head-office manages this prompt/);
	});
	await c.accessible("a prompt that the hub manages");
	await c.law("the box has no pages of a hub", async () => {
		const menu = await c.page.$$eval("nav#menu a", (all) => all.map((a) => a.innerText));
		assert.ok(menu.includes("Phone") && !menu.includes("Boxes"), menu.join());
	});
};
