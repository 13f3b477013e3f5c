"""An app for hume 0.7 and 0.9, in the style of that time: callbacks, a token made with the
secret key, binary frames from a microphone, and no setting for the address. Prints a
line for each check that passes, and exits with 1 at the first that fails."""

import asyncio
import base64
import io
import os
import wave

from hume import AsyncHumeClient, HumeClient
from hume.empathic_voice import (
    AudioConfiguration,
    ChatMetadata,
    Context,
    PostedConfigPromptSpec,
    PostedUserDefinedToolSpec,
    SessionSettings,
    ToolErrorMessage,
    ToolResponseMessage,
    UserInput,
)
from hume.empathic_voice.chat.socket_client import ChatConnectOptions
from hume.tts import FormatWav, PostedUtterance, PostedUtteranceVoiceWithName

KEY, SECRET = os.environ["HUME_API_KEY"], os.environ["HUME_SECRET_KEY"]
box = HumeClient(api_key=KEY)


class Chat:
    """Collects the messages of a chat's callbacks."""

    def __init__(self):
        self.messages, self.errors, self.changed = [], [], asyncio.Event()

    async def on_message(self, message):
        self.messages.append(message)
        self.changed.set()

    def on_error(self, error):
        self.errors.append(error)
        self.changed.set()

    async def until(self, kind):
        """Removes and returns the messages up to the next of that kind."""
        async with asyncio.timeout(60):
            while True:
                assert not self.errors, self.errors
                for i, m in enumerate(self.messages):
                    assert m.type != "error" or kind == "error", m
                    if m.type == kind:
                        got, self.messages = self.messages[: i + 1], self.messages[i + 1 :]
                        return got
                self.changed.clear()
                await self.changed.wait()


def opened(chat, **options):
    live = AsyncHumeClient(api_key=KEY).empathic_voice.chat
    return live.connect_with_callbacks(
        options=ChatConnectOptions(**options),
        on_open=lambda: None,
        on_message=chat.on_message,
        on_close=lambda: None,
        on_error=chat.on_error,
    )


def listed(answer, page):
    """Returns the items of a list: 0.7 returns a page, and 0.9 iterates over all pages."""
    return getattr(answer, page, answer)


def said(messages):
    return " ".join(m.message.content for m in messages if m.type == "assistant_message")


async def typed():
    chat = Chat()
    async with opened(chat, secret_key=SECRET) as socket:
        metadata = (await chat.until("chat_metadata"))[0]
        assert isinstance(metadata, ChatMetadata), metadata
        await socket.send_session_settings(
            SessionSettings(
                custom_session_id="visit-7",
                system_prompt="You are {{who}}.",
                variables={"who": "a porter", "floor": 3, "open": True},
                context=Context(text="It rains.", type="persistent"),
            )
        )
        for question in ("How are you?", "And now?"):  # the second question uses the same socket
            await socket.send_user_input(UserInput(text=question))
            turn = await chat.until("assistant_end")
            assert said(turn).startswith("You said: " + question), said(turn)
            asked = next(m for m in turn if m.type == "user_message")
            assert asked.from_text and not asked.interim and asked.models.prosody is None, asked
            sound = next(m for m in turn if m.type == "audio_output")
            assert wave.open(io.BytesIO(base64.b64decode(sound.data))).getframerate() == 48000
            assert all(m.custom_session_id == "visit-7" for m in turn)
    return metadata


async def spoken():
    chat = Chat()
    with wave.open(os.environ["QUESTION"]) as question:
        sound = question.readframes(question.getnframes()) + bytes(2 * 8000 * 2)
    async with opened(chat) as socket:
        await socket.send_session_settings(
            SessionSettings(audio=AudioConfiguration(sample_rate=8000, channels=1, encoding="linear16"))
        )
        for i in range(0, len(sound), 1600):  # 100 ms, as MicrophoneSender sends them
            await socket._send(sound[i : i + 1600])
            await asyncio.sleep(0.1)
        heard = (await chat.until("user_message"))[-1]
        assert not heard.from_text and "key" in heard.message.content, heard
        assert len(heard.models.prosody.scores.dict()) == 48
        await chat.until("assistant_end")


async def tools():
    tool = box.empathic_voice.tools.create_tool(
        name="greet_" + str(os.getpid()), parameters='{"type":"object","properties":{}}'
    )
    config = box.empathic_voice.configs.create_config(
        name="old desk " + str(os.getpid()),
        evi_version="2",
        prompt=PostedConfigPromptSpec(text="You are a porter."),
        tools=[PostedUserDefinedToolSpec(id=tool.id)],
    )
    chat = Chat()
    async with opened(chat, config_id=config.id) as socket:
        await socket.send_user_input(UserInput(text="Use " + tool.name))
        call = (await chat.until("tool_call"))[-1]
        assert (call.name, call.response_required, call.tool_type) == (tool.name, True, "function"), call
        await socket.send_tool_response(ToolResponseMessage(tool_call_id=call.tool_call_id, content="Done."))
        assert said(await chat.until("assistant_end")) == "The tool says: Done."
        await socket.send_user_input(UserInput(text="Use " + tool.name))
        call = (await chat.until("tool_call"))[-1]
        await socket.send_tool_error(
            ToolErrorMessage(tool_call_id=call.tool_call_id, error="dark", content="It is dark.")
        )
        assert said(await chat.until("assistant_end")) == "The tool says: It is dark."
    assert config.id in [c.id for c in listed(box.empathic_voice.configs.list_configs(page_size=100), "configs_page")]


def history(metadata):
    assert metadata.chat_id in [
        c.id for c in box.empathic_voice.chats.list_chats(page_number=0, page_size=1, ascending_order=False)
    ]
    events = list(
        box.empathic_voice.chats.list_chat_events(metadata.chat_id, page_number=0, page_size=2, ascending_order=True)
    )
    kinds = [e.type for e in events]
    assert kinds.count("USER_MESSAGE") == 2 and kinds.count("AGENT_MESSAGE") >= 2 and "SESSION_SETTINGS" in kinds, kinds
    groups = box.empathic_voice.chat_groups
    assert metadata.chat_group_id in [g.id for g in listed(groups.list_chat_groups(page_size=100), "chat_groups_page")]
    own_events = list(listed(groups.list_chat_group_events(metadata.chat_group_id, page_size=100), "events_page"))
    assert {e.chat_id for e in own_events} == {metadata.chat_id} and len(own_events) == len(events)


def speech():
    voice = PostedUtteranceVoiceWithName(name="Joe", provider="HUME_AI")
    said = box.tts.synthesize_json(utterances=[PostedUtterance(text="Hello there.", voice=voice)], format=FormatWav())
    sound = base64.b64decode(said.generations[0].audio)
    assert wave.open(io.BytesIO(sound)).getframerate() == 48000
    chunks = list(box.tts.synthesize_json_streaming(utterances=[PostedUtterance(text="Hello there.", voice=voice)]))
    assert chunks[-1].is_last_chunk and all(base64.b64decode(c.audio) or c.is_last_chunk for c in chunks)
    assert (
        b"".join(
            box.tts.synthesize_file(utterances=[PostedUtterance(text="Hello there.", voice=voice)], format=FormatWav())
        )[:4]
        == b"RIFF"
    )
    assert "Joe" in [v.name for v in listed(box.tts.voices.list(provider="HUME_AI", page_size=100), "voices_page")]


metadata = asyncio.run(typed())
print("ok typed, with a token", flush=True)
asyncio.run(spoken())
print("ok spoken, in binary frames", flush=True)
asyncio.run(tools())
print("ok tools", flush=True)
history(metadata)
print("ok history", flush=True)
speech()
print("ok speech", flush=True)
print("done")
