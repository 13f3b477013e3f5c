// Every call of the published client's tts namespace against a real box.
const assert = require("node:assert");
const { HumeClient } = require(process.env.CLIENT + "/node_modules/hume");
const url = process.env.BOX_URL;
const client = new HumeClient({ apiKey: process.env.API_KEY, environment: { base: url, evi: url.replace("http", "ws") + "/v0/evi", tts: url.replace("http", "ws") + "/v0/tts", stream: url.replace("http", "ws") + "/v0/stream" } });
const voice = { name: "Ito", provider: "HUME_AI" }; // of the cloud library: Joe stands in
const wav = { type: "wav" };

async function bytes(stream) {
  const all = [];
  for await (const piece of stream) all.push(Buffer.from(piece));
  return Buffer.concat(all);
}

(async () => {
  const whole = await client.tts.synthesizeJson({ utterances: [{ text: "Hello there. All is well.", voice, trailingSilence: 0.5 }, { text: "Good night." }], format: wav, includeTimestampTypes: ["word", "phoneme"], numGenerations: 2 });
  assert.equal(whole.generations.length, 2);
  assert.ok(whole.requestId);
  for (const g of whole.generations) {
    const file = Buffer.from(g.audio, "base64");
    assert.equal(file.length, g.fileSize);
    assert.ok(Math.abs((file.length - 44) / 96000 - g.duration) < 1e-6);
    assert.deepEqual(g.snippets.map((s) => s.length), [2, 1]);
    for (const s of g.snippets.flat()) {
      assert.equal(s.generationId, g.generationId);
      assert.equal(typeof s.transcribedText, "string");
      assert.deepEqual(s.timestamps.filter((t) => t.type === "word").map((t) => t.text), s.text.match(/\w+/g));
    }
  }
  const id = whole.generations[0].generationId;
  const file = await bytes(await (await client.tts.synthesizeFile({ utterances: [{ text: "And on." }], context: { generationId: id }, format: wav })).stream());
  assert.equal(file.subarray(0, 4).toString(), "RIFF");
  const streamed = await bytes(await (await client.tts.synthesizeFileStreaming({ utterances: [{ text: "Hello there.", voice }] })).stream());
  assert.ok(streamed.length > 5000);

  for (const stripHeaders of [true, false]) {
    const chunks = [];
    let times = 0;
    for await (const m of await client.tts.synthesizeJsonStreaming({ utterances: [{ text: "Hello there. All is well.", voice }], format: wav, includeTimestampTypes: ["word"], stripHeaders })) {
      if (m.type === "timestamp") times++;
      else chunks.push(m);
    }
    assert.equal(times, 5);
    assert.ok(chunks.length > 2);
    assert.equal(chunks.filter((c) => c.isLastChunk).length, 2);
    assert.ok(chunks.every((c) => c.audioFormat === "wav" && c.requestId && c.snippetId));
    const heads = chunks.filter((c) => Buffer.from(c.audio, "base64").subarray(0, 4).toString() === "RIFF").length;
    assert.equal(heads, stripHeaders ? 1 : chunks.filter((c) => c.audio).length);
  }

  const socket = await client.tts.streamInput.connect({ noBinary: true, formatType: "pcm", includeTimestampTypes: ["word"], stripHeaders: true, version: "2" });
  const heard = [];
  const closed = new Promise((resolve, reject) => {
    socket.on("message", (m) => heard.push(m));
    socket.on("error", reject);
    socket.on("close", (e) => resolve(e.code));
  });
  await socket.waitForOpen();
  for (const text of ["Hello ", "there. All is", " well. "]) socket.sendPublish({ text, voice });
  socket.sendPublish({ text: "Bye", close: true });
  assert.equal(await closed, 1000);
  const texts = heard.filter((m) => m.type === "audio" && m.isLastChunk).map((m) => m.text);
  assert.deepEqual(texts, ["Hello there.", "All is well.", "Bye"]);
  assert.equal(heard.filter((m) => m.type === "timestamp").length, 6);

  await assert.rejects(client.tts.synthesizeJson({ utterances: [] }), (e) => e.statusCode === 400 && /utterances/.test(JSON.stringify(e.body)));
  await assert.rejects(client.tts.synthesizeJson({ utterances: [{ text: "a", voice: { name: "nobody" } }] }), (e) => e.statusCode === 404);
  const list = await client.tts.voices.list({ provider: "HUME_AI" });
  assert.ok(list.data.some((v) => v.name === "Joe"));
  await client.tts.voices.create({ generationId: id, name: "Doorman" });
  const own = await client.tts.synthesizeJson({ utterances: [{ text: "Hello.", voice: { name: "Doorman" } }], format: wav });
  assert.ok(own.generations[0].duration > 0.2);
  await client.tts.voices.delete({ name: "Doorman" });
  console.log("done");
  process.exit(0);
})().catch((e) => { console.error(e); process.exit(1); });
