// Follows and steers live chats of a box with the published JavaScript client, as a second server
// does. Prints a line for each check that passes, and exits with 1 at the first that fails.
"use strict";
const assert = require("node:assert/strict");
const { createRequire } = require("node:module");
const { BOX_URL, API_KEY, SECRET_KEY, CLIENT } = process.env;
const { HumeClient, HumeError, Hume } = createRequire(CLIENT + "/client.cjs")("hume");
const { withQueue, open } = require("./socket.cjs");

const connectTo = (options) => new HumeClient({ environment: BOX_URL, maxRetries: 0, ...options }).empathicVoice;
const box = connectTo({ apiKey: API_KEY });
const unknownID = "00000000-0000-4000-8000-000000000000";

const follow = async (id, by = box, more = {}) => {
	const socket = withQueue(await by.controlPlane.connect({ chat_id: id, reconnectAttempts: 1, ...more }));
	await socket.waitForOpen();
	return socket;
};
const begin = async (args) => {
	const chat = open(box, args);
	return [chat, (await chat.until("chat_metadata"))[0].chatId];
};
// token fetches an access token. The client's own function needs a box with TLS.
const token = async () => {
	const answer = await fetch(`${BOX_URL}/oauth2-cc/token`, {
		method: "POST",
		body: new URLSearchParams({ grant_type: "client_credentials" }),
		headers: { Authorization: `Basic ${Buffer.from(`${API_KEY}:${SECRET_KEY}`).toString("base64")}` },
	});
	return (await answer.json()).access_token;
};
// withoutSound returns the messages without the sound and the fields that the client adds.
const withoutSound = (messages) =>
	messages.filter((m) => m.type !== "audio_output").map(({ receivedAt, ...m }) => JSON.stringify(m));

async function everyMessageIsSent() {
	const [chat, id] = await begin({});
	await box.controlPlane.send(id, {
		type: "session_settings",
		systemPrompt: "You help {{name}}.",
		variables: { name: "Ann" },
		customSessionId: "mine",
	});
	await box.controlPlane.send(id, { type: "pause_assistant_message" });
	await box.controlPlane.send(id, { type: "user_input", text: "What do you like about the sea?" });
	const [asked] = await chat.until("user_message");
	assert.deepEqual(
		[asked.message.content, asked.fromText, asked.customSessionId],
		["What do you like about the sea?", true, "mine"],
	);
	await box.controlPlane.send(id, { type: "resume_assistant_message" });
	assert.ok((await chat.until("assistant_end")).some((m) => m.type === "audio_output"));
	await box.controlPlane.send(id, { type: "assistant_input", text: "We close in ten minutes." });
	const [said] = (await chat.until("assistant_end")).filter((m) => m.type === "assistant_message");
	assert.deepEqual([said.message.content, said.fromText], ["We close in ten minutes.", true]);
	return [chat, id];
}

// The sender of an invalid message gets an error that its client can parse. The chat is not affected.
async function errorsAreReported(chat, id) {
	for (const wrong of [
		{ type: "user_input", text: " " },
		{ type: "session_settings", systemPrompt: "" },
		{ type: "session_settings", voiceId: "nobody" },
		{ type: "tool_response", toolCallId: "x", content: "y" },
		{ type: "tool_error", toolCallId: "x", error: "y" },
	]) {
		await assert.rejects(box.controlPlane.send(id, wrong), (err) => {
			assert.ok(err instanceof Hume.empathicVoice.UnprocessableEntityError, `${err.name}: ${err.message}`);
			const [first] = err.body.detail;
			assert.ok(first.msg && first.type && first.loc[0] === "body", JSON.stringify(err.body));
			return true;
		});
	}
	const refused = (call, status) =>
		assert.rejects(call, (err) => err instanceof HumeError && err.statusCode === status);
	await refused(box.controlPlane.send(unknownID, { type: "user_input", text: "Hello" }), 404);
	await refused(connectTo({ apiKey: "wrong" }).controlPlane.send(id, { type: "user_input", text: "Hello" }), 401);
	chat.sendUserInput("Thank you.");
	await chat.until("assistant_end"); // without an error before it
	chat.close();
	await chat.until("close");
	// The box learns of the end a moment after the client has left.
	for (let tries = 200; ; tries--) {
		const ended = await box.controlPlane.send(id, { type: "user_input", text: "Hello" }).then(
			() => false,
			(err) => err.statusCode === 404 || assert.fail(String(err)),
		);
		if (ended) return;
		assert.ok(tries > 0, "the chat continues after its client has left");
		await new Promise((done) => setTimeout(done, 50));
	}
}

// Several followers connect at different times: each receives every message of the chat once, in
// order, and the end.
async function followersReceiveEveryMessage() {
	const [chat, id] = await begin({ allowConnection: true });
	const early = await follow(id);
	chat.sendUserInput("What do you like about the sea?");
	const first = await chat.until("assistant_end");
	const late = await follow(id);
	const accessToken = await token();
	const byToken = await follow(id, connectTo({}), { accessToken });
	// A visitor's token can follow a chat if its client allows that, and cannot send into a chat
	// over REST.
	await assert.rejects(
		connectTo({ accessToken }).controlPlane.send(id, { type: "pause_assistant_message" }),
		(err) => err.statusCode === 403,
	);
	early.sendPublish({ type: "assistant_input", text: "We close in ten minutes." });
	const second = await chat.until("assistant_end");

	const metadata = (await early.until("chat_metadata"))[0];
	assert.equal(metadata.chatId, id);
	assert.deepEqual(withoutSound(await early.until("assistant_end")), withoutSound(first));
	for (const one of [late, byToken]) {
		await one.until("chat_metadata");
		const again = await one.until("assistant_end");
		assert.deepEqual(withoutSound(again), withoutSound(first));
		assert.ok(
			again.every((m) => m.type !== "audio_output"),
			"earlier sound was sent",
		);
	}
	const sound = (messages) =>
		messages.filter((m) => m.type === "audio_output").map((m) => `${m.id} ${m.index} ${m.data.length}`);
	for (const one of [early, late, byToken]) {
		const got = await one.until("assistant_end");
		assert.deepEqual(withoutSound(got), withoutSound(second));
		assert.deepEqual(sound(got), sound(second));
	}
	late.sendPublish({ type: "session_settings", systemPrompt: "" });
	assert.equal((await late.until("error")).at(-1).code, "E0716");
	late.sendBinary(Buffer.alloc(64));
	assert.equal((await late.until("error")).at(-1).code, "E0103");
	byToken.close();
	await byToken.until("close");
	chat.close();
	await chat.until("close");
	for (const one of [early, late]) assert.equal((await one.until("close")).at(-1).code, 1000);
}

async function main() {
	const law = async (name, run) => {
		const result = await run().catch((err) => {
			throw new Error(name, { cause: err });
		});
		console.log(`ok ${name}`);
		return result;
	};
	const [chat, id] = await law("every message is sent", everyMessageIsSent);
	await law("errors are reported to the sender", () => errorsAreReported(chat, id));
	await law("followers receive every message", followersReceiveEveryMessage);
	console.log("done");
}

main().then(
	() => process.exit(0),
	(err) => {
		console.error(err);
		process.exit(1);
	},
);
