"""An app for hume 0.13 and 0.14, in the style of that time: settings in the handshake,
typed messages, the control plane and the speech socket, and no setting for the address.
Prints a line for each check that passes, and exits with 1 at the first that fails."""

import asyncio
import base64
import os

from hume import AsyncHumeClient, HumeClient
from hume.empathic_voice.types import ConnectSessionSettings, ConnectSessionSettingsAudio, SessionSettings, UserInput
from hume.tts import PostedUtterance, PostedUtteranceVoiceWithName, PublishTts

KEY = os.environ["HUME_API_KEY"]
box = HumeClient(api_key=KEY)
VOICE = PostedUtteranceVoiceWithName(name="Joe", provider="HUME_AI")


async def until(chat, kind):
    got = []
    async with asyncio.timeout(60):
        while not got or got[-1].type != kind:
            got.append(await chat.recv())
            assert got[-1].type != "error", got[-1]
    return got


async def session():
    live = AsyncHumeClient(api_key=KEY).empathic_voice
    settings = ConnectSessionSettings(
        system_prompt="You are {{who}}.",
        custom_session_id="visit-13",
        variables={"who": "a porter", "floor": 3, "open": True},
        audio=ConnectSessionSettingsAudio(encoding="linear16", sample_rate=16000, channels=1),
    )
    async with live.chat.connect(session_settings=settings, allow_connection=True, verbose_transcription=True) as chat:
        metadata = (await until(chat, "chat_metadata"))[-1]
        await live.control_plane.send(metadata.chat_id, request=UserInput(text="How are you?"))
        turn = await until(chat, "assistant_end")
        kinds = [m.type for m in turn]
        assert kinds.index("user_message") < kinds.index("assistant_message") < kinds.index("audio_output"), kinds
        assert all(m.custom_session_id == "visit-13" for m in turn)
        await live.control_plane.send(metadata.chat_id, request=SessionSettings(system_prompt="You are a guard."))
    events = list(
        box.empathic_voice.chats.list_chat_events(metadata.chat_id, page_number=0, page_size=3, ascending_order=True)
    )
    assert [e.type for e in events].count("USER_MESSAGE") == 1
    assert [e.type for e in events].count("SESSION_SETTINGS") == 2, [e.type for e in events]


async def speech():
    client = AsyncHumeClient(api_key=KEY)
    chunks, words = b"", []
    async for m in client.tts.synthesize_json_streaming(
        utterances=[PostedUtterance(text="Hello there.", voice=VOICE)],
        version="2",
        strip_headers=True,
        instant_mode=True,
        include_timestamp_types=["word"],
    ):
        if m.type == "timestamp":
            words.append(m.timestamp.text)
        else:
            chunks += base64.b64decode(m.audio)
    assert words == ["Hello", "there"] and len(chunks) > 2000, words
    async with client.tts.stream_input.connect(
        version="1", no_binary=True, strip_headers=True, instant_mode=True
    ) as line:
        await line.send_publish(PublishTts(text="Hello there.", voice=VOICE))
        await line.send_publish(PublishTts(flush=True))
        await line.send_publish(PublishTts(close=True))
        said = [m async for m in line]
    assert said and all(m.type == "audio" for m in said), said
    assert "Joe" in [v.name async for v in await client.tts.voices.list(provider="HUME_AI", page_size=5)]


asyncio.run(session())
print("ok session", flush=True)
asyncio.run(speech())
print("ok speech", flush=True)
print("done")
