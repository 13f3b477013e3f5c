"""Makes every call of the published client's tts namespace to a real box."""

import asyncio
import base64
import os

from hume import AsyncHumeClient, HumeClient
from hume.core.api_error import ApiError
from hume.environment import HumeClientEnvironment
from hume.tts import (
    FormatWav,
    PostedContextWithGenerationId,
    PostedUtterance,
    PostedUtteranceVoiceWithId,
    PostedUtteranceVoiceWithName,
)
from hume.tts.types.publish_tts import PublishTts

URL = os.environ["BOX_URL"]
WS = URL.replace("http", "ws", 1)
OPTIONS = dict(
    api_key=os.environ["API_KEY"],
    environment=HumeClientEnvironment(base=URL, evi=WS + "/v0/evi", tts=WS + "/v0/tts", stream=WS + "/v0/stream"),
)
client = HumeClient(**OPTIONS)
# Ito, a cloud voice, whose stand-in is Joe.
VOICE = PostedUtteranceVoiceWithId(id="f60ecf9e-ff1e-4bae-9206-dba7c653a69e", provider="HUME_AI")


def refused(status, call):
    try:
        call()
    except ApiError as e:
        assert e.status_code == status, e
        return e
    raise AssertionError(f"{status} expected")


def requests():
    whole = client.tts.synthesize_json(
        utterances=[
            PostedUtterance(text="Hello there. All is well.", voice=VOICE, trailing_silence=0.5),
            PostedUtterance(text="Good night."),
        ],
        format=FormatWav(),
        include_timestamp_types=["word", "phoneme"],
        num_generations=2,
    )
    assert len(whole.generations) == 2 and whole.request_id
    for g in whole.generations:
        file = base64.b64decode(g.audio)
        assert len(file) == g.file_size and abs((len(file) - 44) / 96000 - g.duration) < 1e-6
        assert [len(s) for s in g.snippets] == [2, 1]
        for s in sum(g.snippets, []):
            words = [t.text for t in s.timestamps if t.type == "word"]
            assert words == s.text.replace(".", "").split(), (words, s.text)
            assert isinstance(s.transcribed_text, str)
    first = whole.generations[0].generation_id
    file = b"".join(
        client.tts.synthesize_file(
            utterances=[PostedUtterance(text="And on.")],
            context=PostedContextWithGenerationId(generation_id=first),
            format=FormatWav(),
        )
    )
    assert file[:4] == b"RIFF"
    streamed = b"".join(
        client.tts.synthesize_file_streaming(utterances=[PostedUtterance(text="Hello there.", voice=VOICE)])
    )
    assert len(streamed) > 5000
    for strip in (True, False):
        chunks, times = [], 0
        for m in client.tts.synthesize_json_streaming(
            utterances=[PostedUtterance(text="Hello there. All is well.", voice=VOICE)],
            format=FormatWav(),
            include_timestamp_types=["word"],
            strip_headers=strip,
        ):
            if m.type == "timestamp":
                times += 1
            else:
                chunks.append(m)
        assert times == 5 and sum(c.is_last_chunk for c in chunks) == 2
        heads = sum(base64.b64decode(c.audio)[:4] == b"RIFF" for c in chunks)
        assert heads == (1 if strip else sum(bool(c.audio) for c in chunks))
    assert "utterances" in str(refused(400, lambda: client.tts.synthesize_json(utterances=[])).body)
    unknown_voice = PostedUtteranceVoiceWithName(name="nobody")
    refused(404, lambda: client.tts.synthesize_json(utterances=[PostedUtterance(text="a", voice=unknown_voice)]))
    voices(first)


def voices(generation):
    assert any(v.name == "Joe" for v in client.tts.voices.list(provider="HUME_AI"))
    made = client.tts.voices.create(generation_id=generation, name="Porter")
    assert made.name == "Porter" and made.provider == "CUSTOM_VOICE"
    custom = PostedUtteranceVoiceWithName(name="Porter")
    said = client.tts.synthesize_json(utterances=[PostedUtterance(text="Hello.", voice=custom)], format=FormatWav())
    assert said.generations[0].duration > 0.2
    assert [v.name for v in client.tts.voices.list(provider="CUSTOM_VOICE")] == ["Porter"]
    client.tts.voices.delete(name="Porter")
    refused(404, lambda: client.tts.voices.delete(name="Porter"))


async def socket():
    speaker = AsyncHumeClient(**OPTIONS)
    responses = []
    async with speaker.tts.stream_input.connect(
        no_binary=True,
        format_type="pcm",
        include_timestamp_types=["word"],
        strip_headers=True,
        version="2",
        temperature=0.5,
    ) as line:
        for text in ("Hello ", "there. All is", " well. "):
            await line.send_publish(PublishTts(text=text, voice=VOICE))
        await line.send_publish(PublishTts(text="Bye", close=True))
        async for m in line:
            responses.append(m)
    assert [m.text for m in responses if m.type == "audio" and m.is_last_chunk] == [
        "Hello there.",
        "All is well.",
        "Bye",
    ]
    assert sum(m.type == "timestamp" for m in responses) == 6


async def talk(query, *messages):
    """Returns all responses of a socket to some messages, until it is closed."""
    speaker = AsyncHumeClient(**OPTIONS)
    responses = []
    async with speaker.tts.stream_input.connect(no_binary=True, format_type="pcm", strip_headers=True, **query) as line:
        for m in messages:
            await line.send_publish(PublishTts(**m))
        await line.send_publish(PublishTts(close=True))
        async for m in line:
            responses.append(m)
    return responses


async def errors():
    """An error is an ordinary message and leaves the socket open. Without instant mode a voice may be designed."""
    responses = await talk(
        dict(instant_mode=True), dict(text="One.", flush=True), dict(text="Two.", voice=VOICE, flush=True)
    )
    refused = [m for m in responses if getattr(m, "error", None)]
    assert [(m.type, m.audio, m.code, m.error) for m in refused] == [("audio", "", "E0740", "speech_refused")], refused
    assert "voice: missing" in refused[0].message
    assert any(m.text == "Two." and len(m.audio) > 1000 for m in responses)
    unknown_voice = PostedUtteranceVoiceWithName(name="nobody")
    assert [m.error for m in await talk({}, dict(text="One.", voice=unknown_voice))] == ["voice_not_found"]
    made = await talk({}, dict(text="One.", description="an old man", flush=True), dict(text="Two."))
    for text in ("One.", "Two."):
        assert any(m.text == text and len(m.audio) > 1000 for m in made), text
    assert all(isinstance(m.transcribed_text, str) for m in made)


def times():
    """Times increase over all sentences of a generation."""
    utterances = [PostedUtterance(text="Go home today. Now, judge!", voice=VOICE), PostedUtterance(text="Oh, how?")]
    last = {"word": 0, "phoneme": 0}
    said = {"word": [], "phoneme": []}
    for m in client.tts.synthesize_json_streaming(
        utterances=utterances, version="2", include_timestamp_types=["word", "phoneme"]
    ):
        if m.type == "timestamp":
            at = m.timestamp
            assert last[at.type] <= at.time.begin <= at.time.end, at
            last[at.type] = at.time.begin
            said[at.type].append(at.text)
    assert said["word"] == ["Go", "home", "today", "Now", "judge", "Oh", "how"], said
    assert " ".join(said["phoneme"]) == "ɡ oʊ h oʊ m t ə d eɪ n aʊ dʒ ʌ dʒ oʊ h aʊ", said


requests()
times()
asyncio.run(socket())
asyncio.run(errors())
print("done", flush=True)
