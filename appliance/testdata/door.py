"""Talks through the door of a hub with the published Python client. The hub has two boxes with one seat each. Prints a
line for each check that passes, and exits with 1 at the first that fails."""

import asyncio, os
from hume import AsyncHumeClient, HumeClient
from hume.core.api_error import ApiError
from hume.empathic_voice import UserInput
from hume.tts import PostedContextWithGenerationId, PostedUtterance
from websockets.exceptions import ConnectionClosed
from websockets.legacy.exceptions import InvalidStatusCode

URL, KEY, CONFIG = (os.environ[name] for name in ("BOX_URL", "API_KEY", "CONFIG"))
hub = HumeClient(base_url=URL, api_key=KEY)
live = AsyncHumeClient(base_url=URL, api_key=KEY).empathic_voice.chat


async def until(chat, kind):
    async with asyncio.timeout(60):
        while True:
            m = await chat.recv()
            assert m.type != "error", m
            if m.type == kind:
                return m


async def talks(chat):
    """Returns the chat group, after an answer with sound."""
    metadata = await until(chat, "chat_metadata")
    await chat.send_publish(UserInput(text="Hello?"))
    await until(chat, "audio_output")
    await until(chat, "assistant_end")
    return metadata.chat_group_id


async def resumes(group):
    """Resumes a chat group. The hub learns within a second that the seat of the chat before is free."""
    for left in reversed(range(20)):
        try:
            async with live.connect(config_id=CONFIG, resumed_chat_group_id=group) as chat:
                assert await talks(chat) == group
            return
        except ApiError as e:
            if left == 0 or "status_code: 503" not in str(e):
                raise
            await asyncio.sleep(0.5)


async def refused(**query):
    """Returns how long to wait, if the chat is refused; None if it is not."""
    try:
        async with live.connect(config_id=CONFIG, **query) as chat:
            await until(chat, "chat_metadata")
    except Exception as e:
        while e and not isinstance(e, InvalidStatusCode):
            e = e.__cause__ or e.__context__
        assert e and e.status_code == 503, e
        return int(e.headers["Retry-After"])


async def main():
    async with live.connect(config_id=CONFIG) as one, live.connect(config_id=CONFIG) as other:
        groups = await talks(one), await talks(other)
        assert groups[0] != groups[1]
        print("ok two chats have a box each", flush=True)
        assert await refused() == 5
        print("ok a third is told to wait", flush=True)
    for group in groups:  # each is on the box that has it: another one would not know it
        await resumes(group)
    print("ok each group is resumed on its box", flush=True)
    said = [PostedUtterance(text="The museum opens at ten.")]
    first = hub.tts.synthesize_json(utterances=said).generations[0]
    assert len(first.audio) > 1000
    for _ in range(3):
        context = PostedContextWithGenerationId(generation_id=first.generation_id)
        assert hub.tts.synthesize_json(utterances=said, context=context).generations[0].audio
    print("ok speech is continued on the box that began it", flush=True)
    async with live.connect(config_id=CONFIG, resumed_chat_group_id=groups[0]) as chat:
        await talks(chat)
        print("stop the boxes", flush=True)
        try:
            await until(chat, "nothing")
        except ConnectionClosed as e:
            assert e.rcvd and e.rcvd.code in (1001, 1014), e
    print("ok the chat ends with its box", flush=True)
    while wait := await refused(resumed_chat_group_id=groups[0]):
        await asyncio.sleep(wait / 5)  # a test is less patient than it is told to be
    async with live.connect(config_id=CONFIG, resumed_chat_group_id=groups[0]) as chat:
        assert await talks(chat) == groups[0]
    print("ok the group is resumed when the box is back", flush=True)
    print("done")


asyncio.run(main())
