// A tool is created, its errors are shown, it is changed and compared with its earlier version.
"use strict";

exports.steps = async (c, { assert }) => {
	await c.law("invalid JSON is reported before it is sent", async () => {
		await c.go("tools/new");
		await c.fill("Name", "next_train");
		await c.fill("Description", "Tells when the next train to a town leaves.");
		await c.shows("Where to", "main table");
		await c.fill("Arguments, as a JSON schema", '{"type": ');
		await c.shows("Not valid JSON", ".error");
	});
	await c.law("a schema error is shown at its field", async () => {
		await c.fill("Arguments, as a JSON schema", '{"type": "thing"}');
		await c.press("Make this tool");
		await c.shows("not a JSON schema", ".field .error");
	});
	await c.accessible("a tool");
	await c.law("a tool is created", async () => {
		await c.fill(
			"Arguments, as a JSON schema",
			'{"type": "object", "properties": {"town": {"type": "string", "description": "Where to"}}, ' +
				'"required": ["town"]}',
		);
		await c.press("Make this tool");
		await c.shows("Version 0");
	});
	await c.law("a new version of a tool shows its changes", async () => {
		await c.fill("When it fails", "The timetable cannot be read just now.");
		await c.press("Save");
		await c.shows("Version 1");
		await c.shows("The timetable cannot be read", ".difference .added");
	});
	await c.law("a rename makes no new version", async () => {
		await c.fill("Name", "next_bus");
		await c.press("Save");
		await c.shows("next_bus", "h1");
		const { body } = await c.ask("GET", "/v0/evi/tools?restrict_to_most_recent=false&name=next_bus");
		assert.deepEqual(
			body.tools_page.map((t) => [t.name, t.version]),
			[
				["next_bus", 0],
				["next_bus", 1],
			],
		);
	});
};
