"""Follows and steers a live chat of a box with the published Python client, as a second
server does. Prints a line for each check that passes, and exits with 1 at the first
that fails."""

import asyncio, os
from hume import AsyncHumeClient, HumeClient
from hume.core.api_error import ApiError
from hume.empathic_voice import (
    AssistantInput,
    PauseAssistantMessage,
    ResumeAssistantMessage,
    SessionSettings,
    ToolResponseMessage,
    UserInput,
)
from hume.empathic_voice.errors import UnprocessableEntityError
from hume.environment import HumeClientEnvironment

URL, KEY = os.environ["BOX_URL"], os.environ["API_KEY"]
live = AsyncHumeClient(base_url=URL, api_key=KEY).empathic_voice
control = HumeClient(base_url=URL, api_key=KEY).empathic_voice.control_plane
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


def following(chat_id):
    """The control plane's socket of a chat. The client (0.14.1) does not append the chat's
    id to the address, so the environment's address contains it."""
    ws = URL.replace("http", "ws", 1)
    there = HumeClientEnvironment(base=URL, evi=f"{ws}/v0/evi/chat/{chat_id}/connect?client=", tts=ws, stream=ws)
    return AsyncHumeClient(environment=there, api_key=KEY).empathic_voice.control_plane.connect(chat_id)


async def until(socket, kind):
    got = []
    async with asyncio.timeout(60):
        while not got or got[-1].type != kind:
            got.append(await socket.recv())
            assert got[-1].type != "error" or kind == "error", got[-1]
    return got


async def every_message_is_sent():
    async with live.chat.connect() as chat:
        chat_id = (await until(chat, "chat_metadata"))[0].chat_id
        send = lambda m: asyncio.to_thread(control.send, chat_id, request=m)
        await send(SessionSettings(system_prompt="Help.", custom_session_id="mine"))
        await send(PauseAssistantMessage())
        await send(UserInput(text="When do you open?"))
        assert (await until(chat, "user_message"))[-1].custom_session_id == "mine"
        await send(ResumeAssistantMessage())
        await until(chat, "assistant_end")
        await send(AssistantInput(text="We close in ten minutes."))
        assert any(m.type == "assistant_message" and m.from_text for m in await until(chat, "assistant_end"))
        for wrong in (
            SessionSettings(system_prompt=""),
            UserInput(text=" "),
            ToolResponseMessage(tool_call_id="x", content="y"),
        ):
            try:
                await send(wrong)
                raise AssertionError(f"{wrong} was accepted")
            except UnprocessableEntityError as e:
                assert e.body.detail[0].loc[0] == "body" and e.body.detail[0].msg, e
    try:
        control.send(UNKNOWN_ID, request=UserInput(text="Hello"))
        raise AssertionError("an unknown chat was found")
    except ApiError as e:
        assert e.status_code == 404 and e.body["code"] == "not_found", e


async def a_follower_receives_every_message():
    async with live.chat.connect(allow_connection=True) as chat:
        chat_id = (await until(chat, "chat_metadata"))[0].chat_id
        await chat.send_publish(UserInput(text="When do you open?"))
        first = await until(chat, "assistant_end")
        async with following(chat_id) as follower:
            without_sound = lambda messages: [m for m in messages if m.type not in ("audio_output", "chat_metadata")]
            assert without_sound(await until(follower, "assistant_end")) == without_sound(first)
            await follower.send_publish(AssistantInput(text="We close in ten minutes."))
            assert await until(follower, "assistant_end") == await until(chat, "assistant_end")
            await follower.send_publish(SessionSettings(system_prompt=""))
            assert (await until(follower, "error"))[-1].code == "E0716"
    try:
        async with following(chat_id):
            raise AssertionError("a chat that has ended was followed")
    except ApiError as e:
        assert e.status_code == 404, e


for law in every_message_is_sent, a_follower_receives_every_message:
    asyncio.run(law())
    print("ok", law.__name__.replace("_", " "), flush=True)
print("done")
