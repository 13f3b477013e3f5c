// Runs the page ear.html, which measures how long a click takes from the microphone to the
// loudspeaker and back, by WebRTC and by a socket at the same time. Prints the times as JSON, in
// milliseconds, and "done".
"use strict";
const { launch } = require("./browser.cjs");
const { BOX_URL, MICROPHONE, CLICKS } = process.env;

const clicks = Number(CLICKS),
	longestMS = 1000;

// times returns the time from each moment of to back to the latest moment of from before it.
const times = (from, to) =>
	to.map((at) => at - Math.max(...from.filter((f) => f <= at))).filter((ms) => ms < longestMS);

async function main() {
	const browser = await launch(MICROPHONE);
	const page = await browser.newPage();
	page.setDefaultTimeout(180_000);
	page.on("pageerror", (err) => console.error(String(err)));
	await page.goto(BOX_URL);
	await page.evaluate(() => window.measure());
	await page.waitForFunction((n) => window.began[1].length >= n && window.began[2].length >= n, clicks, {
		polling: 500,
	});
	const [mouth, call, socket] = await page.evaluate(() => window.began);
	const network = await page.evaluate(() => window.network());
	if (!(await page.evaluate(() => window.restart()))) throw new Error("the call has not restarted");
	await page.waitForFunction((n) => window.began[1].length >= n, call.length + 3, { polling: 500 });
	await browser.close();
	// The first few are slow because the browser is still starting.
	console.log(
		JSON.stringify({
			WebRTC: times(mouth, call).slice(4),
			Socket: times(mouth, socket).slice(4),
			Network: network,
		}),
	);
	console.log("done");
}

main().then(
	() => process.exit(0),
	(err) => {
		console.error(err);
		process.exit(1);
	},
);
