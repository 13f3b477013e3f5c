// Trunks, live calls and ended calls are shown; an operator calls out, listens, hands over and hangs
// up. The box of this test has no telephone, so its answers are made here.
"use strict";

const call = (more) => ({
	call_id: "c1",
	direction: "inbound",
	state: "talking",
	trunk: "desk",
	from: "+493012345",
	to: "100",
	account: "default",
	chat_id: "chat1",
	started_on: Date.now() - 65_000,
	answered_on: Date.now() - 61_000,
	duration_secs: 61,
	on_hold: false,
	codec: "G722",
	encrypted: false,
	packets_received: 3000,
	packets_lost: 150,
	jitter_ms: 4.2,
	...more,
});

const phone = () => ({
	listeners: [
		{ address: "udp://0.0.0.0:5060", open: true },
		{ address: "tls://0.0.0.0:5061", open: false, error: "the port is in use" },
	],
	trunks: [
		{ name: "desk", address: "192.0.2.10", register: false, state: "ready" },
		{
			name: "carrier",
			address: "tls://sip.example",
			register: true,
			state: "failed",
			last_error: "403 Forbidden: the password is wrong",
			last_error_on: Date.now() - 120_000,
		},
	],
	extensions: [{ number: "100", config: "Reception" }, { number: "*" }],
	calls: [
		call(),
		call({ call_id: "c2", direction: "outbound", state: "ringing", to: "201", from: undefined, chat_id: undefined,
			answered_on: undefined, duration_secs: 0, codec: undefined, packets_received: 0, packets_lost: 0 }),
		call({ call_id: "c3", trunk: undefined, from: undefined, codec: "PCMU", encrypted: true, on_hold: true,
			chat_id: "chat3", packets_lost: 0 }),
	],
	ended_calls: [
		call({ call_id: "c4", direction: "outbound", state: "ended", answered_by: "busy", answered_on: undefined,
			duration_secs: 0, ended_on: Date.now(), end_reason: "The line is busy.", chat_id: "chat4" }),
	],
});

exports.steps = async (c, { assert }) => {
	await c.law("without a telephone the page says what to set", async () => {
		await c.go("phone");
		await c.shows("phone.listen");
	});

	const posted = [];
	await c.page.route("**/v0/box/phone", (route) => route.fulfill({ json: phone() }));
	await c.page.route("**/v0/box/phone/calls**", (route) => {
		const r = route.request();
		posted.push([r.method(), new URL(r.url()).pathname, r.postDataJSON()]);
		if (r.postDataJSON()?.to === "999")
			return route.fulfill({ status: 422, json: { detail: [{ loc: ["body", "to"], msg: "nobody has it" }] } });
		return r.method() === "DELETE" || r.url().endsWith("/transfer")
			? route.fulfill({ status: 204 })
			: route.fulfill({ status: 201, json: call({ call_id: "c5", state: "ringing" }) });
	});
	await c.page.routeWebSocket(/\/v0\/evi\/chat\/chat1\/connect/, (ws) => {
		for (const m of [
			{ type: "assistant_message", id: "a1", message: { role: "assistant", content: "The museum, good morning." } },
			{ type: "user_message", interim: false, message: { role: "user", content: "When do you open?" }, models: {} },
			{ type: "tool_call", tool_call_id: "t1", name: "transfer", parameters: '{"destination":"desk"}' },
		])
			ws.send(JSON.stringify(m));
		setTimeout(() => ws.close({ code: 1000, reason: "" }), 300);
	});

	await c.law("calls and trunks are shown with their state", async () => {
		await c.page.reload(); // sockets are made here from the next page on
		for (const text of ["+493012345", "4.8 % lost", "a withheld number", "on hold", "1:01",
			"403 Forbidden: the password is wrong", "the port is in use", "busy", "PCMU, encrypted"])
			await c.shows(text);
	});
	await c.accessible("the phone");
	await c.law("an operator listens to a call", async () => {
		await c.press("Listen to +493012345");
		await c.shows("When do you open?", "dialog [data-who=you]");
		await c.shows("The museum, good morning.", "dialog [data-who=box]");
		await c.shows("Caller", "dialog");
		await c.shows("The conversation is over.", "dialog");
		await c.press("Close", "dialog");
	});
	await c.law("a config calls a number, and a wrong number is marked", async () => {
		const made = await c.ask("POST", "/v0/evi/configs", { name: "Reminder", evi_version: "4-mini" });
		await c.press("Call a number");
		await c.fill("Number", "999", "dialog");
		await c.choose("Config", made.body.id, "dialog");
		await c.choose("Trunk", "carrier", "dialog");
		await c.press("Call", "dialog");
		await c.shows("nobody has it", "dialog .field .error");
		await c.fill("Number", "+49 30 777", "dialog");
		await c.press("Call", "dialog");
		await c.page.waitForFunction(() => !document.querySelector("dialog"));
		assert.deepEqual(posted.at(-1), ["POST", "/v0/box/phone/calls",
			{ to: "+49 30 777", config_id: made.body.id, trunk: "carrier", account: "default" }]);
		await c.ask("DELETE", `/v0/evi/configs/${made.body.id}`);
	});
	await c.law("a call is handed over and hung up", async () => {
		await c.press("Transfer +493012345");
		await c.fill("Number", "201", "dialog");
		await c.fill("What the box says", "A guest.", "dialog");
		await c.shot("the phone transfer");
		await c.press("Transfer", "dialog");
		await c.page.waitForFunction(() => !document.querySelector("dialog"));
		assert.deepEqual(posted.at(-1), ["POST", "/v0/box/phone/calls/c1/transfer",
			{ to: "201", attended: true, brief: "A guest." }]);
		await c.press("Hang up a withheld number");
		await c.press("Hang up", "dialog");
		await c.page.waitForFunction(() => !document.querySelector("dialog"));
		assert.deepEqual(posted.at(-1).slice(0, 2), ["DELETE", "/v0/box/phone/calls/c3"]);
	});
	await c.law("the history marks calls", async () => {
		const chat = (id, call, number) => ({ id, chat_group_id: id, status: "USER_ENDED", start_timestamp: 1, end_timestamp: 2,
			metadata: JSON.stringify({ call, twilio: { caller_number: number } }) });
		await c.page.route("**/v0/box/chats?**", (route) => route.fulfill({ json: { chats: [
			chat("a", { direction: "inbound", to: "100" }, "+493012345"),
			chat("b", { direction: "outbound", to: "201", answered_by: "no_answer" }, null),
			{ ...chat("c"), metadata: undefined },
		] } }));
		await c.go("chats");
		await c.shows(/phone\s+from \+493012345/);
		await c.shows(/phone\s+to 201, no answer/);
		assert.equal(await c.page.locator("main td .tag", { hasText: "phone" }).count(), 2);
	});
	await c.page.unrouteAll();
};
