// Debian's Chromium, driven by playwright-core, for the tests that use a page as a
// person does.
"use strict";
const { createRequire } = require("node:module");
const { CLIENT, CHROMIUM } = process.env;
const { chromium } = createRequire(CLIENT + "/client.cjs")("playwright-core");

// launch starts the browser. Its microphone hears the file over and over, if one is
// given. It has no sandbox, which root could not have: nothing but our own pages is
// opened. More arguments are the browser's.
exports.launch = (microphone, ...args) => chromium.launch({
	executablePath: CHROMIUM,
	chromiumSandbox: false,
	args: [
		"--disable-gpu", "--autoplay-policy=no-user-gesture-required", "--use-fake-ui-for-media-stream",
		...(microphone ? ["--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${microphone}`] : []),
		...args,
	],
});
