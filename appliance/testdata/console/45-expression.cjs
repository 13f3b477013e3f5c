// Texts, recordings and pictures are scored; the scores are shown, selected and saved.
"use strict";
const fs = require("node:fs");

exports.steps = async (c, { assert }) => {
	const { MICROPHONE, FACE } = process.env;
	const analyse = async (files, text) => {
		await c.go("expression");
		if (files) await c.field("Pictures, videos, recordings or texts").setInputFiles(files);
		if (text) await c.fill("Or a text", text);
		await c.press("Analyse");
		await c.shows("done", ".head .tag");
		await c.page.waitForSelector("section[aria-label=Names] table");
	};
	await c.law(
		"the page says what the scores rest on, and nothing can be sent before something is chosen",
		async () => {
			await c.go("expression");
			await c.shows("Scores are guesses of small models");
			await c.shows("Nothing was analysed yet");
			assert.ok(await c.page.getByRole("button", { name: "Analyse" }).isDisabled());
		},
	);
	await c.law("the words of a text are coloured by the score of a name", async () => {
		await analyse(undefined, "I am so happy that you came!\n\nThe waiting was sad.");
		await c.choose("Coloured by", { label: "Joy" });
		const score = (word) =>
			c.page.$$eval(
				".words .word",
				(all, word) => Number(all.find((e) => e.innerText === word).title.replace("Joy ", "")),
				word,
			);
		assert.ok((await score("happy")) > (await score("waiting")));
		assert.match(await c.page.innerText(".words"), /came!\s*\n\n\s*The/);
		await c.page.locator(".words .word", { hasText: "happy" }).click();
		await c.shows("“happy”", ".now");
	});
	await c.accessible("the scores of a text");
	await c.law("all names are listed, and the table is saved as CSV", async () => {
		await c.press("Show all 53");
		assert.equal(await c.page.locator("table.names tbody tr").count(), 53);
		const [download] = await Promise.all([c.page.waitForEvent("download"), c.press("Save this as CSV")]);
		const [head, first] = fs.readFileSync(await download.path(), "utf8").split("\r\n");
		assert.match(head, /^begin,end,.*,text,Admiration,/);
		assert.match(first, /,I,0\.\d{4},/);
		const archive = await c.page.evaluate(async () => {
			const res = await fetch(document.querySelector("a[download$='.zip']").href);
			return [res.status, res.headers.get("content-type")];
		});
		assert.deepEqual(archive, [200, "application/zip"]);
	});
	await c.law("a recording has its player, its outline and scores over time; a broken file is reported", async () => {
		const broken = { name: "broken.jpg", mimeType: "image/jpeg", buffer: Buffer.from("ffd8ffe000104a464946", "hex") };
		await analyse([MICROPHONE, broken].map((f) => (typeof f === "string" ? readFile(f) : f)));
		await c.shows("broken.jpg: ", "section[aria-label=Errors]");
		await c.page.waitForSelector("audio");
		await c.page.waitForSelector(".chart canvas");
		await c.page.evaluate(() => (document.querySelector("audio").currentTime = 1.5));
		await c.page.waitForSelector(".moment:not([hidden])");
	});
	await c.law("another browser shows the scores without the sound", async () => {
		await c.page.reload();
		await c.choose("Scores of", { label: "Words" });
		await c.page.waitForSelector(".chart canvas");
		assert.equal(await c.page.locator("audio").count(), 0);
	});
	await c.law("the faces of a picture are framed and scored", async () => {
		await analyse([FACE]);
		await c.page.waitForSelector("canvas.picture");
		await c.press("Face 1");
		await c.shows("Face 1", ".now");
		const drawn = await c.page.$eval("canvas.picture", (canvas) => {
			const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
			return new Set(new Uint32Array(data.buffer)).size;
		});
		assert.ok(drawn > 1000, `the picture has ${drawn} colours`);
	});
	await c.accessible("the scores of a picture");
	await c.law("a job is deleted", async () => {
		const jobs = async () => (await c.ask("GET", "/v0/batch/jobs")).body.length;
		const before = await jobs();
		await c.press("Delete");
		await c.press("Delete", "dialog");
		await c.shows("Jobs", "h2");
		assert.equal(await jobs(), before - 1);
	});
	await c.accessible("the jobs of analysis");
};

// readFile returns a file as the browser gets it from a person, with its type.
const readFile = (file) => ({ name: "question.wav", mimeType: "audio/wav", buffer: fs.readFileSync(file) });
