// A plugin is examined, installed, granted permissions, configured, called, watched and removed.
"use strict";

exports.steps = async (c, { assert }) => {
	const { PLUGIN } = process.env;
	await c.law("without plugins the page explains how to install one", async () => {
		await c.go("plugins");
		await c.shows("No plugin is installed");
	});
	await c.law("a late answer about one file is not shown for another", async () => {
		await c.press("Install a plugin");
		await c.page.evaluate(() => {
			const originalFetch = window.fetch,
				later = new Promise((goOn) => {
					window.goOn = goOn;
				});
			window.fetch = async (...args) => {
				// only the first request
				window.fetch = originalFetch;
				const answer = await originalFetch(...args);
				await later;
				return answer;
			};
		});
		const file = c.field("File", "dialog");
		await file.setInputFiles(PLUGIN);
		await c.shows("Checking the file", "dialog [role=status]");
		await file.setInputFiles(__filename);
		await c.page.waitForFunction(() => document.querySelector("dialog .error").innerText !== "");
		await c.page.evaluate(() => window.goOn());
		await new Promise((later) => setTimeout(later, 200));
		assert.equal(await c.page.$("dialog h3"), null);
		await c.press("Cancel", "dialog");
	});
	await c.law("a plugin is installed", async () => {
		await c.press("Install a plugin");
		const file = c.field("File", "dialog");
		await file.setInputFiles(PLUGIN);
		await c.shows("quiet 1.0.0", "dialog h3");
		await c.shows("It needs these settings before it can run: key", "dialog");
		await c.accessible("a plugin that is to be installed");
		await c.press("Install", "dialog");
		await c.shows("quiet", "h1");
		await c.shows("incomplete", ".tag");
	});
	await c.law("a permission is granted, and a secret is stored and not shown again", async () => {
		await c.press("Grant storage");
		await c.pressable("Revoke storage").waitFor();
		await c.fill("key", "geheim");
		await c.press("Save");
		await c.shows("ready", ".tag");
		assert.ok(!(await c.page.content()).includes("geheim"));
		await c.press("Revoke storage");
		await c.pressable("Grant storage").waitFor();
	});
	await c.law("a test call does not count as a call of a chat", async () => {
		await c.press("Call");
		await c.shows("of memory");
		await c.shows("None yet.");
	});
	await c.law("a call of a chat appears in the list", async () => {
		const tool = (await c.ask("GET", "/v0/evi/tools?page_size=100")).body.tools_page.find(
			(t) => t.plugin === "quiet",
		);
		const config = await c.ask("POST", "/v0/evi/configs", {
			name: "Quiet",
			evi_version: "4-mini",
			tools: [{ id: tool.id }],
		});
		await c.page.evaluate(
			([config, name]) =>
				new Promise((resolve, reject) => {
					const ws = new WebSocket(
						`${location.origin.replace("http", "ws")}/v0/evi/chat?config_id=${config}`,
					);
					ws.onmessage = ({ data }) => {
						const m = JSON.parse(data);
						if (m.type === "chat_metadata")
							ws.send(JSON.stringify({ type: "user_input", text: `use ${name}` }));
						if (m.type === "tool_response" || m.type === "tool_error") {
							resolve();
							ws.close(1000);
						}
					};
					ws.onclose = ({ reason }) => reject(new Error(reason));
				}),
			[config.body.id, tool.name],
		);
		await c.shows(tool.name, "td code");
		await c.ask("DELETE", `/v0/evi/configs/${config.body.id}`);
	});
	await c.law("an invalid call is reported", async () => {
		await c.fill("Parameters", "nonsense");
		await c.press("Call");
		await c.shows("expected a JSON object as text");
	});
	await c.accessible("a plugin");
	await c.law("the plugin is removed", async () => {
		await c.press("Remove");
		await c.press("Remove", "dialog");
		await c.shows("No plugin is installed");
	});
};
