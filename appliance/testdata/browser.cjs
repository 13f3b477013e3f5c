// Runs Debian's Chromium with playwright-core, for the tests that use a page as a person would.
"use strict";
const { createRequire } = require("node:module");
const { CLIENT, CHROMIUM } = process.env;
const { chromium } = createRequire(CLIENT + "/client.cjs")("playwright-core");

// launch starts the browser. If microphone names a file, the browser's microphone plays it in a loop.
// The sandbox is off, because root cannot use it; the browser opens only pages of the tests. Further
// arguments go to the browser.
exports.launch = (microphone, ...args) =>
	chromium.launch({
		executablePath: CHROMIUM,
		chromiumSandbox: false,
		args: [
			"--disable-gpu",
			"--autoplay-policy=no-user-gesture-required",
			"--use-fake-ui-for-media-stream",
			...(microphone
				? ["--use-fake-device-for-media-stream", `--use-file-for-fake-audio-capture=${microphone}`]
				: []),
			...args,
		],
	});
