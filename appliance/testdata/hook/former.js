// The settings and the tool that the pages of former apps share.
export const query = new URLSearchParams(location.search);

window.seen = { messages: [], errors: [], started: 0, ended: 0 };
export const seen = {
	onMessage: (m) => window.seen.messages.push(m),
	onError: (e) => window.seen.errors.push(e),
	onAudioStart: () => window.seen.started++,
	onAudioEnd: () => window.seen.ended++,
	onToolCall: async (call, send) => send.success(`${call.name} is done`),
};
