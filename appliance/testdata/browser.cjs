// Runs Debian's Chromium with playwright-core, for the tests that use a page as a person does.
"use strict";
const { createRequire } = require("node:module");
const { CLIENT, CHROMIUM } = process.env;
const { chromium } = createRequire(CLIENT + "/client.cjs")("playwright-core");

// launch starts the browser. If a file is given, its microphone plays the file over and over. The
// browser has no sandbox, which root could not have: it opens only our pages. Further arguments go
// to the browser.
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
