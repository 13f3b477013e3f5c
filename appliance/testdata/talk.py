"""Talks to a box with the published Python client: a person's question calls a tool, a
voice interrupts the answer, and a resumed group remembers both. The box's model follows
a script (scripted_model_test.go). Prints a line for each check that passes, and exits
with 1 at the first that fails."""

import asyncio, base64, os, wave
from hume import AsyncHumeClient, HumeClient
from hume.empathic_voice import AudioInput, ToolErrorMessage, ToolResponseMessage, UserInput

URL, KEY = os.environ["BOX_URL"], os.environ["API_KEY"]
box = HumeClient(base_url=URL, api_key=KEY).empathic_voice
live = AsyncHumeClient(base_url=URL, api_key=KEY).empathic_voice
LINEAR16 = {"audio": {"encoding": "linear16", "sample_rate": 8000, "channels": 1}}


async def until(chat, kind):
    got = []
    async with asyncio.timeout(60):
        while not got or got[-1].type != kind:
            m = await chat.recv()
            assert not m.model_extra, f"{m.type} has {m.model_extra}"
            assert m.type != "error", m
            got.append(m)
    return got


def said(messages):
    return " ".join(m.message.content for m in messages if m.type == "assistant_message")


async def speak(chat):
    with wave.open(os.environ["QUESTION"]) as question:
        sound = question.readframes(question.getnframes()) + bytes(2 * 8000 * 2)
    for i in range(0, len(sound), 1600):  # 100 ms
        await chat.send_publish(AudioInput(data=base64.b64encode(sound[i : i + 1600]).decode()))
        await asyncio.sleep(0.1)


def tool(name, key, kind):
    schema = f'{{"type":"object","properties":{{"{key}":{{"type":"{kind}"}}}},"required":["{key}"]}}'
    return {"id": box.tools.create_tool(name=name, parameters=schema).id}


async def main():
    config = box.configs.create_config(
        name="desk in Python",
        evi_version="3",
        voice={"id": "f60ecf9e-ff1e-4bae-9206-dba7c653a69e", "provider": "HUME_AI"},
        interruption={"min_interruption_ms": 400},
        tools=[tool("press_key", "key", "string"), tool("switch_lamp", "on", "boolean")],
    )
    async with live.chat.connect(config_id=config.id, session_settings=LINEAR16) as chat:
        metadata = (await until(chat, "chat_metadata"))[0]
        speaking = asyncio.create_task(speak(chat))
        call = (await until(chat, "tool_call"))[-1]
        assert (call.name, call.parameters, call.response_required, call.tool_type) == (
            "press_key",
            '{"key":"pound"}',
            True,
            "function",
        ), call
        await chat.send_publish(ToolResponseMessage(tool_call_id=call.tool_call_id, content="Tell the story."))
        await speaking
        assert said(await until(chat, "audio_output")).startswith("The key was made in a village")
        print("ok a spoken question calls a tool", flush=True)
        speaking = asyncio.create_task(speak(chat))
        await until(chat, "user_interruption")
        turn = await until(chat, "assistant_end")
        assert said(turn).startswith("You said: "), said(turn)
        await speaking
        print("ok a voice interrupts", flush=True)
        await asyncio.sleep(4)  # an interruption removes what was not played yet
        await chat.send_publish(UserInput(text="Switch the lamp on."))
        call = (await until(chat, "tool_call"))[-1]
        await chat.send_publish(
            ToolErrorMessage(tool_call_id=call.tool_call_id, error="dark", content="The fuse is gone.")
        )
        assert said(await until(chat, "assistant_end")) == "The tool says: The fuse is gone."
        print("ok a tool fails", flush=True)
        await asyncio.sleep(3)
    await asyncio.sleep(0.5)  # the box sees the end of a chat a moment after us
    async with live.chat.connect(config_id=config.id, resumed_chat_group_id=metadata.chat_group_id) as chat:
        await chat.send_publish(UserInput(text="What do you remember?"))
        remembered = said(await until(chat, "assistant_end"))
        assert (
            "pound key" in remembered and "Tell the story" in remembered and "The fuse is gone" in remembered
        ), remembered
        print("ok a group is resumed", flush=True)
    print("done")


asyncio.run(main())
