// Clicks the buttons of examples/page.html, which comes from standard input. The parts of a browser
// that the page uses are fakes.
const assert = require("assert");
const html = require("fs").readFileSync(0, "utf8");

const button = (tag) => ({
	disabled: /disabled/.test(tag),
	click() {
		return this.disabled ? undefined : this.onclick();
	},
});
const buttons = html.match(/<button[^>]*>/g).map(button);
const written = [];
let stopped = 0;
const track = { stop: () => stopped++ };
const sockets = [];
let allowed = true;

class Socket {
	static OPEN = 1;
	readyState = 0;
	constructor() {
		sockets.push(this);
	}
	send() {}
	opens() {
		this.readyState = 1;
		this.onopen();
	}
	close() {
		this.readyState = 3;
		this.onclose({ wasClean: true, reason: "bye" });
	}
}
class Speaker {
	close() {}
}
class Recorder {
	start() {}
}

const page = {
	document: {
		querySelectorAll: () => buttons,
		querySelector: (q) => (q === "button" ? buttons[0] : { append: (line) => written.push(line) }),
	},
	navigator: {
		mediaDevices: {
			getUserMedia: async () => {
				if (!allowed) throw new Error("not allowed");
				return { getTracks: () => [track] };
			},
		},
	},
	WebSocket: Socket,
	AudioContext: Speaker,
	MediaRecorder: Recorder,
};
new Function(...Object.keys(page), html.match(/<script>([\s\S]*)<\/script>/)[1])(...Object.values(page));
const [talk, end] = buttons;

(async () => {
	allowed = false; // the browser refuses the microphone: the page reports it and can try again
	await talk.click();
	assert.match(written.join(), /not allowed/);
	allowed = true;
	await Promise.all([talk.click(), talk.click(), talk.click()]);
	assert.equal(sockets.length, 1, "several clicks before the socket is open");
	sockets[0].opens();
	await talk.click();
	assert.equal(sockets.length, 1, "a click while the socket is open");
	sockets[0].onmessage({ data: JSON.stringify({ type: "user_message", message: { content: "Hello" } }) });
	assert.match(written.join(), /You: Hello/);
	end.click();
	assert.equal(sockets[0].readyState, 3, "the button End closes the socket");
	assert.equal(stopped, 1, "the button End releases the microphone");
	await talk.click();
	assert.equal(sockets.length, 2, "a second chat can start");
})().catch((e) => {
	console.error(e.message);
	process.exit(1);
});
