"""Uses the box through the published Python client of OpenAI."""

import io
import json
import os

import openai

SAID = "The museum opens at ten in the morning."
box = openai.OpenAI(base_url=os.environ["BOX_URL"] + "/v1", api_key=os.environ["API_KEY"], max_retries=0)


def check(good, what):
    if not good:
        raise SystemExit(f"wrong: {what}")
    print(what if isinstance(what, str) else json.dumps(what))


def refused(kind, call, param=None, code=None):
    try:
        call()
    except kind as e:
        check((param is None or e.param == param) and (code is None or e.code == code), f"{kind.__name__}: {e.message}")
        return
    raise SystemExit(f"no {kind.__name__}")


def heard(data, name, **more):
    return box.audio.transcriptions.create(model="moonshine", file=(name, io.BytesIO(data)), **more)


names = [m.id for m in box.models.list()]
check({"parley", "moonshine", "whisper-1", "tts-1"} <= set(names), f"models: {names}")
check(box.models.retrieve("parley").id == "parley", "one model")
refused(openai.NotFoundError, lambda: box.models.retrieve("gpt-9"), code="model_not_found")

# Speech, in every format, and back to words.
sound = {}
for form in "mp3", "opus", "aac", "flac", "wav":
    voice = "echo" if form == "mp3" else "joe"  # one of OpenAI's, and a quicker one
    said = box.audio.speech.create(model="tts-1", voice=voice, input=SAID, response_format=form)
    sound[form] = said.read()
    check("museum" in heard(sound[form], "said." + form).text.lower(), f"speech as {form}")
pieces = []
with box.audio.speech.with_streaming_response.create(
    model="tts-1", voice="joe", input=SAID * 3, response_format="pcm"
) as streamed:
    pieces = list(streamed.iter_bytes())
check(len(pieces) > 1 and 2 * 24000 * 3 < sum(map(len, pieces)) < 2 * 24000 * 20, f"speech in {len(pieces)} pieces")
events = box.audio.speech.create(model="tts-1", voice="joe", input=SAID, response_format="pcm", stream_format="sse")
check(b'"type":"speech.audio.delta"' in events.read(), "speech as events")

# Transcripts.
check(heard(sound["mp3"], "a.mp3", response_format="text").strip().lower().startswith("the museum"), "text")
check("00:00:0" in heard(sound["mp3"], "a.mp3", response_format="srt"), "srt")
check(heard(sound["mp3"], "a.mp3", response_format="vtt").startswith("WEBVTT"), "vtt")
verbose = heard(
    sound["mp3"], "a.mp3", response_format="verbose_json", timestamp_granularities=["word", "segment"], language="en"
)
words = verbose.words
check(verbose.language == "english" and 1 < verbose.duration < 6 and len(verbose.segments) == 1, "verbose_json")
check(words[1].word == "museum" and 0 < words[1].start < words[1].end < words[-1].end, f"{len(words)} words")
deltas, done = "", ""
for event in heard(sound["flac"], "a.flac", stream=True):
    if event.type == "transcript.text.delta":
        deltas += event.delta
    else:
        done = event.text
check(deltas == done and "museum" in done.lower(), "a transcript as a stream")

# Messages.
ask = [{"role": "system", "content": "You are brief."}, {"role": "user", "content": "Count from one to twenty."}]
answer = box.chat.completions.create(model="parley", messages=ask, max_tokens=8, temperature=0)
choice = answer.choices[0]
check(choice.message.content and choice.finish_reason == "length", f"an answer: {choice.message.content!r}")
check(answer.usage.completion_tokens == 8 and answer.usage.prompt_tokens > 10, "its usage")
text, last = "", None
for chunk in box.chat.completions.create(
    model="parley", messages=ask, max_tokens=8, temperature=0, stream=True, stream_options={"include_usage": True}
):
    text += chunk.choices[0].delta.content or "" if chunk.choices else ""
    last = chunk
check(text == choice.message.content and last.usage.completion_tokens == 8, "the same as a stream")
stop = choice.message.content[3:5]
cut = box.chat.completions.create(model="parley", messages=ask, max_tokens=8, temperature=0, stop=[stop]).choices[0]
check(cut.message.content == choice.message.content[:3] and cut.finish_reason == "stop", f"stopped before {stop!r}")
schema = {
    "type": "object",
    "properties": {"name": {"type": "string", "enum": ["Ann", "Bob"]}, "ages": {
        "type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2}},
    "required": ["name", "ages"],
    "additionalProperties": False,
}
formed = box.chat.completions.create(
    model="parley", messages=[{"role": "user", "content": "Who is it?"}], max_tokens=100,
    response_format={"type": "json_schema", "json_schema": {"name": "who", "schema": schema, "strict": True}},
)
who = json.loads(formed.choices[0].message.content)
check(who["name"] in ("Ann", "Bob") and len(who["ages"]) == 2, f"JSON by a schema: {who}")

# Errors.
wrong = openai.OpenAI(base_url=box.base_url, api_key="wrong", max_retries=0)
refused(openai.AuthenticationError, lambda: wrong.models.list(), code="invalid_api_key")
refused(openai.NotFoundError, lambda: box.audio.speech.create(model="tts-9", voice="joe", input="Hi."), "model",
        "model_not_found")
refused(openai.BadRequestError, lambda: box.audio.speech.create(model="tts-1", voice="nobody", input="Hi."), "voice")
refused(openai.BadRequestError, lambda: heard(b"this is no sound at all", "a.mp3"), "file")
refused(openai.BadRequestError, lambda: heard(sound["mp3"], "a.mp3", language="xx"), "language")
refused(openai.BadRequestError, lambda: box.chat.completions.create(model="parley", messages=ask, n=2), "n")
refused(openai.BadRequestError, lambda: box.chat.completions.create(
    model="parley", messages=[{"role": "user", "content": "word " * 20000}]), "messages", "context_length_exceeded")
print("done")
