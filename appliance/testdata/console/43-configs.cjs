// A config is created from existing resources, and the box's errors are shown at their fields.
"use strict";

exports.steps = async (c, { assert }) => {
	const newest = async () => (await c.ask("GET", "/v0/evi/configs?name=Museum")).body.configs_page[0];
	await c.law("a config is filled in from existing resources", async () => {
		await c.ask("POST", "/v0/evi/prompts", { name: "Guide", text: "You show visitors around." });
		await c.ask("POST", "/v0/evi/tools", {
			name: "lamp",
			description: "Switches the lamp.",
			parameters: '{"type":"object"}',
		});
		await c.go("configs");
		await c.press("New config");
		await c.fill("Name", "Museum");
		const { body } = await c.ask("GET", "/v0/evi/prompts?name=Guide");
		await c.choose("Prompt", body.prompts_page[0].id);
		await c.field("lamp").check();
		await c.field("Hang up").check();
		await c.field("Greeting").check();
		await c.fill("Text: greeting", "Welcome to the museum.");
		await c.press("Add an example");
		await c.fill("Question 1", "Is there a lift?");
		await c.fill("Answer 1", "No, there is none.");
	});
	await c.law("an error is shown at its field", async () => {
		await c.press("Add a webhook");
		await c.fill("URL of webhook 1", "http://8.8.8.8/told");
		await c.press("Make this config");
		await c.page.waitForFunction(() =>
			/private|https/i.test(
				document.querySelector("input[type=url][aria-invalid]")?.closest(".field").querySelector(".error")
					?.innerText ?? "",
			),
		);
		await c.press("Remove webhook 1");
	});
	await c.ask("POST", "/v0/evi/tools", {
		name: "t".repeat(60),
		description: `Has a long name. ${"d".repeat(60)}`,
		parameters: '{"type":"object"}',
	});
	await c.accessible("a config");
	await c.focusVisible("a config");
	await c.law("the config is created as it was filled in", async () => {
		await c.press("Make this config");
		await c.shows("Version 0");
		const made = await newest();
		assert.equal(made.prompt.name, "Guide");
		assert.equal(made.prompt.version_type, "LATEST");
		assert.deepEqual(
			made.tools.map((t) => t.name),
			["lamp"],
		);
		assert.deepEqual(
			made.builtin_tools.map((t) => t.name),
			["hang_up"],
		);
		assert.deepEqual(made.event_messages.on_new_chat, { enabled: true, text: "Welcome to the museum." });
		assert.deepEqual(made.examples, [{ user: "Is there a lift?", assistant: "No, there is none." }]);
	});
	await c.law("a change of one field changes nothing else", async () => {
		const before = await newest();
		await c.fill("Silence that ends a turn (ms)", "1000");
		await c.press("Save");
		await c.shows("Version 1");
		const after = await newest();
		assert.equal(after.turn_detection.end_of_turn_silence_ms, 1000);
		after.turn_detection.end_of_turn_silence_ms = before.turn_detection.end_of_turn_silence_ms;
		for (const one of [before, after]) for (const field of ["version", "modified_on"]) delete one[field];
		assert.deepEqual(after, before);
		await c.shows('"end_of_turn_silence_ms": 1000', ".difference .added");
	});
	await c.law("saving over a newer version of another client asks first", async () => {
		const { id } = await newest();
		await c.ask("POST", `/v0/evi/configs/${id}`, {
			evi_version: "4-mini",
			version_description: "of another browser",
		});
		const asked = [];
		const answers = (d) => {
			asked.push(d.message());
			return asked.length === 1 ? d.dismiss() : d.accept();
		};
		c.page.on("dialog", answers);
		await c.fill("Speech that interrupts (ms)", "900");
		await c.press("Save");
		while (asked.length === 0) await new Promise((later) => setTimeout(later, 20));
		assert.match(asked[0], /Version 2 was saved .* after you opened version 1/);
		await c.pressable("Save").waitFor();
		assert.equal((await newest()).version, 2);
		await c.press("Save");
		await c.shows("Version 3");
		c.page.off("dialog", answers);
		assert.equal((await newest()).interruption.min_interruption_ms, 900);
	});
	await c.law("the saved file creates the same config", async () => {
		await c.page.evaluate(() => {
			const make = URL.createObjectURL.bind(URL);
			URL.createObjectURL = (blob) => {
				window.saved = blob;
				return make(blob);
			};
		});
		await c.press("Save as JSON");
		const posted = JSON.parse(await c.page.evaluate(() => window.saved.text()));
		const { status, body } = await c.ask("POST", "/v0/evi/configs", { ...posted, name: "Copy" });
		assert.equal(status, 201, JSON.stringify(body));
		const now = await newest();
		for (const one of [now, body])
			for (const field of ["id", "name", "version", "created_on", "modified_on", "version_description"])
				delete one[field];
		assert.deepEqual(body, now);
		await c.ask(
			"DELETE",
			`/v0/evi/configs/${(await c.ask("GET", "/v0/evi/configs?name=Copy")).body.configs_page[0].id}`,
		);
	});
	await c.law("an earlier version is restored", async () => {
		await c.choose("From", "0");
		await c.press("Go back to version 0");
		await c.shows("Version 4");
		assert.equal((await newest()).turn_detection.end_of_turn_silence_ms, 800);
	});
};
