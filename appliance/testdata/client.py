"""Talks to a box with the published Python client, as its users do: it creates, changes
and deletes each kind of resource, holds chats by text and by speech, and fetches their
history. All responses must match the client's own models: it must know every field and
every value. Prints a line for each check that passes, and exits with 1 at the first that
fails."""

import asyncio, base64, os, time, typing, wave
import httpx
from hume import AsyncHumeClient, HumeClient
from hume.core.api_error import ApiError
from hume.empathic_voice import (
    AssistantInput,
    AudioInput,
    PauseAssistantMessage,
    ResumeAssistantMessage,
    SessionSettings,
    ToolErrorMessage,
    UserInput,
)
from hume.empathic_voice.errors import BadRequestError

URL, KEY, SECRET = (os.environ[name] for name in ("BOX_URL", "API_KEY", "SECRET_KEY"))
box = HumeClient(base_url=URL, api_key=KEY).empathic_voice
live = AsyncHumeClient(base_url=URL, api_key=KEY).empathic_voice
UNKNOWN_ID = "00000000-0000-4000-8000-000000000000"


def fits(value, kind=None):
    """Checks that the client's models know all of the value, and returns it."""
    if isinstance(value, (list, tuple)):
        return [fits(v) for v in value]
    words = [w for a in typing.get_args(kind) for w in typing.get_args(a)]
    if isinstance(value, str) and words and all(isinstance(w, str) for w in words):
        assert value in words, f"{value!r} is not one of {words}"
    if hasattr(type(value), "model_fields"):
        assert not value.model_extra, f"{type(value).__name__} has no {sorted(value.model_extra)}"
        for name, field in type(value).model_fields.items():
            fits(getattr(value, name), field.annotation)
    return value


def refused(call, *args, status, kind=ApiError, says="", **fields):
    try:
        got = call(*args, **fields)
    except ApiError as e:
        assert isinstance(e, kind) and e.status_code == status, f"{type(e).__name__} {e}"
        message = e.body["message"] if isinstance(e.body, dict) else e.body.message
        assert says in message, f"{message!r} does not say {says}"
    else:
        raise AssertionError(f"{call.__name__} was not refused: {got}")


def check_life_cycle(kind, first, following):
    of = lambda call: getattr(getattr(box, kind + "s"), call.format(kind))
    made = [fits(of("create_{}")(name=f"{kind}-{n}", version_description="first", **first)) for n in range(3)]
    one = made[0].id
    assert fits(of("create_{}_version")(one, **following)).version == 1
    assert fits(of("get_{}_version")(one, 0)).version_description == "first"
    assert fits(of("update_{}_description")(one, 0, version_description="new")).version_description == "new"
    assert fits(of("update_{}_description")(one, 0)).version_description is None
    assert isinstance(of("update_{}_name")(one, name="renamed"), str)
    for size in 1, 2, 100:
        assert sorted(fits(r).id for r in of("list_{}s")(page_size=size)) == sorted(r.id for r in made)
    versions = of("list_{}_versions")(one, restrict_to_most_recent=False)
    versions = versions.prompts_page if kind == "prompt" else versions  # the only list without an iterator
    assert sorted(fits(r).version for r in versions) == [0, 1]
    assert [r.version for r in of("list_{}s")(name="renamed")] == [1]
    refused(of("create_{}"), name="x" * 75, status=400, kind=BadRequestError, says="name", **first)
    refused(of("list_{}s"), page_size=101, status=400, kind=BadRequestError, says="page_size")
    refused(of("get_{}_version"), UNKNOWN_ID, 0, status=404, says=UNKNOWN_ID)
    of("delete_{}_version")(one, 1)
    refused(of("get_{}_version"), one, 1, status=404, says="version 1")
    of("delete_{}")(one)
    refused(of("delete_{}"), one, status=404, says=one)
    return made[1]


def resources_have_their_life_cycle():
    voice = {"name": "ITO", "provider": "HUME_AI"}  # a cloud voice, whose stand-in is Joe
    prompt = check_life_cycle("prompt", {"text": "Be kind."}, {"text": "Be brief."})
    tool = check_life_cycle(
        "tool", {"parameters": '{"type":"object"}', "description": "d", "fallback_content": "f"}, {"parameters": "{}"}
    )
    check_life_cycle("config", {"evi_version": "3", "voice": voice}, {"evi_version": "4-mini"})
    config = fits(
        box.configs.create_config(
            name="whole",
            evi_version="3",
            voice=voice,
            prompt={"id": prompt.id, "version": 0},
            tools=[{"id": tool.id}],
            builtin_tools=[{"name": "hang_up"}],
            event_messages={"on_new_chat": {"enabled": True, "text": "Good morning."}},
            timeouts={"inactivity": {"enabled": True, "duration_secs": 60}, "max_duration": {"enabled": False}},
            turn_detection={"end_of_turn_silence_ms": 500},
            interruption={"min_interruption_ms": 300},
            nudges={"enabled": False},
            language_model={"model_provider": "OPEN_AI", "model_resource": "gpt-4o", "temperature": 0.5},
            ellm_model={"allow_short_responses": True},
            webhooks=[{"url": "https://example.com/", "events": ["chat_ended"]}],
        )
    )
    # Without tools: whether a small model calls one depends on how busy the box is.
    box.configs.create_config_version(
        config.id,
        evi_version="3",
        voice=voice,
        prompt={"id": prompt.id, "version": 0},
        event_messages={"on_new_chat": {"enabled": True, "text": "Good morning."}},
    )
    assert (config.prompt.text, config.tools[0].name, config.timeouts.max_duration.enabled) == (
        "Be kind.",
        tool.name,
        False,
    )
    refused(HumeClient(base_url=URL, api_key="wrong").empathic_voice.configs.list_configs, status=401)
    return config


async def until(chat, kind):
    """Returns the messages up to the first of that kind, each as its model."""
    got = []
    async with asyncio.timeout(60):
        while not got or got[-1].type != kind:
            m = fits(await chat.recv())
            wanted = {"error": "WebSocketError", "tool_call": "ToolCallMessage"}.get(
                m.type, m.type.title().replace("_", "")
            )
            assert type(m).__name__ == wanted, f"{m.type} was read as {type(m).__name__}"
            assert m.type != "error" or kind == "error", m
            got.append(m)
    return got


async def played(got):
    """Waits until the sound of the messages was played; an interruption would remove the rest."""
    await asyncio.sleep(sum(len(base64.b64decode(m.data)) for m in got if m.type == "audio_output") / 96_000 + 0.3)


async def speak(chat):
    """Sends a person's question and then silence, in real time."""
    with wave.open(os.environ["QUESTION"]) as question:
        sound = question.readframes(question.getnframes()) + bytes(2 * 8000 * 2)
    for i in range(0, len(sound), 1600):  # 100 ms
        await chat.send_publish(AudioInput(data=base64.b64encode(sound[i : i + 1600]).decode()))
        await asyncio.sleep(0.1)


async def text_is_answered(config):
    async with live.chat.connect(config_id=config.id, config_version=1) as chat:  # the key is in the header only
        metadata = (await until(chat, "chat_metadata"))[0]
        await played(await until(chat, "assistant_end"))  # the greeting
        await chat.send_publish(UserInput(text="What do you like about the sea?"))
        answer = await until(chat, "assistant_end")
        assert answer[0].message.content == "What do you like about the sea?" and answer[0].from_text
        await played(answer)
        await chat.send_publish(PauseAssistantMessage())
        await chat.send_publish(UserInput(text="Are you there?"))
        await until(chat, "user_message")
        await chat.send_publish(SessionSettings(custom_session_id="mine", variables={"a": "b"}, metadata={"a": [1]}))
        await chat.send_publish(ResumeAssistantMessage())
        assert all(m.custom_session_id == "mine" for m in await until(chat, "assistant_end"))
        for wrong in (
            ToolErrorMessage(tool_call_id="x", error="y"),
            SessionSettings(system_prompt=""),
            AudioInput(data="$"),
        ):
            await chat.send_publish(wrong)
            await until(chat, "error")
    return metadata


async def a_long_text_fits_the_client():
    # The client accepts messages of up to 1 MiB; the sound of one sentence may be twice as large.
    async with live.chat.connect() as chat:
        await chat.send_publish(AssistantInput(text="one two three four five six seven eight nine ten " * 6))
        said = await until(chat, "assistant_end")
        clips = {
            m.id: [c.index for c in said if c.type == "audio_output" and c.id == m.id]
            for m in said
            if m.type == "assistant_message"
        }
        assert all(indexes == list(range(len(indexes))) for indexes in clips.values()), clips
        assert max(map(len, clips.values())) > 2, clips


async def speech_is_answered(config, before):
    credentials = base64.b64encode(f"{KEY}:{SECRET}".encode()).decode()
    token = httpx.post(
        URL + "/oauth2-cc/token",
        headers={"Authorization": "Basic " + credentials},
        data={"grant_type": "client_credentials"},
    ).json()["access_token"]
    anonymous = AsyncHumeClient(base_url=URL).empathic_voice
    settings = {
        "audio": {"encoding": "linear16", "sample_rate": 8000, "channels": 1},
        "custom_session_id": "é&=[x]",
        "variables": {"name": "Ann", "n": 2.5, "b": False},
        "context": {"text": "It rains.", "type": "temporary"},
        "system_prompt": "You help {{name}}.",
    }
    async with anonymous.chat.connect(
        access_token=token,
        config_id=config.id,
        resumed_chat_group_id=before.chat_group_id,
        verbose_transcription=True,
        event_limit=50,
        session_settings=settings,
    ) as chat:
        metadata = (await until(chat, "chat_metadata"))[0]
        assert metadata.chat_group_id == before.chat_group_id and metadata.custom_session_id == "é&=[x]"
        greeting = await until(chat, "assistant_end")  # of the config, also in a resumed chat
        assert greeting[0].message.content == "Good morning.", greeting
        speaking = asyncio.create_task(speak(chat))
        heard = await until(chat, "assistant_end")
        users = [m for m in heard if m.type == "user_message"]
        assert [u.interim for u in users] == [True] * (len(users) - 1) + [False] and len(users) > 1, users
        assert "name" in users[-1].message.content and users[-1].time.end > users[-1].time.begin
        await speaking
        await chat.send_publish(AssistantInput(text="This goes on and on, " * 8))
        await until(chat, "audio_output")
        speaking = asyncio.create_task(speak(chat))
        await until(chat, "user_interruption")
        await until(chat, "user_message")
        await speaking
    for wrong in {"api_key": "wrong"}, {"access_token": "wrong"}, {}:
        try:
            async with anonymous.chat.connect(**wrong):
                raise AssertionError(f"{wrong} opened a chat")
        except ApiError as e:
            assert e.status_code == 401, e
    return metadata


def history_is_stored(config, first, second):
    for _ in range(100):  # the box sees the end of a chat a moment after us
        chats = [fits(c) for c in box.chats.list_chats(page_size=2, ascending_order=True)]
        if all(c.status != "ACTIVE" for c in chats):
            break
        time.sleep(0.05)
    assert {c.status for c in chats} == {"USER_ENDED"}, chats
    assert [c.id for c in box.chats.list_chats(config_id=config.id, ascending_order=False)] == [
        second.chat_id,
        first.chat_id,
    ]
    assert len([fits(g) for g in box.chat_groups.list_chat_groups(page_size=1)]) == len(
        {c.chat_group_id for c in chats}
    )
    events = [fits(e) for e in box.chats.list_chat_events(first.chat_id, page_size=3, ascending_order=True)]
    said = [e.message_text for e in events if e.type in ("USER_MESSAGE", "AGENT_MESSAGE")]
    assert said[:2] == ["Good morning.", "What do you like about the sea?"] and len(said) > 3, said
    assert {e.type for e in events} >= {
        "CHAT_START_MESSAGE",
        "SYSTEM_PROMPT",
        "PAUSE_ONSET",
        "RESUME_ONSET",
        "SESSION_SETTINGS",
        "CHAT_END_MESSAGE",
    }
    group = fits(box.chat_groups.get_chat_group(first.chat_group_id, ascending_order=True))
    assert (group.num_chats, group.active, [c.id for c in group.chats_page]) == (
        2,
        False,
        [first.chat_id, second.chat_id],
    )
    of_both = [
        fits(e) for e in box.chat_groups.list_chat_group_events(first.chat_group_id, page_size=7, ascending_order=True)
    ]
    assert [e.id for e in of_both if e.chat_id == first.chat_id] == [e.id for e in events]
    assert "USER_INTERRUPTION" in {e.type for e in of_both if e.chat_id == second.chat_id}
    sounds = fits(box.chat_groups.get_audio(first.chat_group_id, ascending_order=True))
    assert [s.id for s in sounds.audio_reconstructions_page] == [first.chat_id, second.chat_id]
    for _ in range(100):
        sound = fits(box.chats.get_audio(second.chat_id))
        if sound.status == "COMPLETE":
            break
        time.sleep(0.1)
    heard = httpx.get(sound.signed_audio_url)  # without a key
    assert heard.status_code == 200 and heard.content[:4] == b"RIFF" and len(heard.content) > 100_000
    for call in (
        box.chats.list_chat_events,
        box.chats.get_audio,
        box.chat_groups.get_chat_group,
        box.chat_groups.list_chat_group_events,
    ):
        refused(call, UNKNOWN_ID, status=404, says=UNKNOWN_ID)


def law(name, does, *args):
    result = does(*args)
    result = asyncio.run(result) if asyncio.iscoroutine(result) else result
    print("ok", name, flush=True)
    return result


config = law("resources have their life cycle", resources_have_their_life_cycle)
first = law("text is answered", text_is_answered, config)
law("a long text fits the client", a_long_text_fits_the_client)
second = law("speech is answered", speech_is_answered, config, first)
law("history is stored", history_is_stored, config, first, second)
print("done")
