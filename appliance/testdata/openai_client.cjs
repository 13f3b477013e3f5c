// Uses the box through the published JavaScript client of OpenAI.
const assert = require("node:assert");
const path = require("node:path");
const { OpenAI, toFile } = require(path.join(process.env.CLIENT, "node_modules", "openai"));

const box = new OpenAI({ baseURL: process.env.BOX_URL + "/v1", apiKey: process.env.API_KEY, maxRetries: 0 });

async function main() {
  const said = await box.audio.speech.create({ model: "tts-1", voice: "joe", input: "Good morning, everybody.",
    response_format: "wav" });
  const wav = Buffer.from(await said.arrayBuffer());
  assert.equal(said.headers.get("content-type"), "audio/wav");
  console.log("speech", wav.length);

  const file = async () => toFile(wav, "said.wav");
  let text = "";
  for await (const e of await box.audio.transcriptions.create({ model: "moonshine", file: await file(), stream: true })) {
    if (e.type === "transcript.text.delta") text += e.delta;
  }
  assert.match(text, /good morning/i);
  console.log("transcript as a stream");

  const tools = [{ type: "function", function: { name: "set_light", description: "switches the light",
    parameters: { type: "object", properties: { on: { type: "boolean" } }, required: ["on"] } } },
  { type: "function", function: { name: "play_music", description: "plays music", parameters: { type: "object",
    properties: { artist: { type: "string" } }, required: ["artist"] } } }];
  const messages = [{ role: "user", content: "Turn the light on, please." }];
  const called = await box.chat.completions.create({ model: "parley", messages, tools, temperature: 0,
    tool_choice: { type: "function", function: { name: "set_light" } } });
  const call = called.choices[0].message.tool_calls[0];
  assert.equal(called.choices[0].finish_reason, "tool_calls");
  assert.equal(typeof JSON.parse(call.function.arguments).on, "boolean");
  console.log("a call", call.function.name, call.function.arguments);
  const any = await box.chat.completions.create({ model: "parley", messages, tools, temperature: 0,
    tool_choice: "required" });
  console.log("any call", any.choices[0].message.tool_calls[0].function);

  // The helper of the client joins the events of a stream.
  const stream = box.chat.completions.stream({ model: "parley", temperature: 0, max_tokens: 20, tools, messages: [
    ...messages, called.choices[0].message, { role: "tool", tool_call_id: call.id, content: '{"light":"on"}' }] });
  const final = await stream.finalChatCompletion();
  assert.ok(final.choices[0].message.content, JSON.stringify(final));
  console.log("after it", final.choices[0].message.content);

  const aborted = new AbortController();
  let first = 0;
  await assert.rejects(async () => {
    const long = await box.chat.completions.create({ model: "parley", max_tokens: 4000, stream: true, messages: [
      { role: "user", content: "Write a very long story about a dragon." }] }, { signal: aborted.signal });
    for await (const _ of long) {
      if (++first === 3) aborted.abort();
    }
    throw aborted.signal.reason; // the client ends the loop without an error
  });
  console.log("aborted after", first);

  await assert.rejects(box.chat.completions.create({ model: "gpt-9", messages }),
    (e) => e instanceof OpenAI.NotFoundError && e.code === "model_not_found" && e.param === "model");
  await assert.rejects(box.chat.completions.create({ model: "parley", messages: [{ role: "user", content: [
    { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] }] }),
  (e) => e instanceof OpenAI.BadRequestError && e.param === "messages[0].content[0].type");
  console.log("done");
}

main().catch((e) => { console.error(e); process.exit(1); });
