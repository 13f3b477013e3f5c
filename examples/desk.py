"""The front desk of a museum: it answers from the facts below, and only from them."""
import asyncio, base64, contextlib, json, os, sys
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException

BOX = os.environ.get("PARLEY_URL", "ws://127.0.0.1:8080") + "/v0/evi/chat"
KEY = os.environ.get("PARLEY_API_KEY") or sys.exit("desk.py: set PARLEY_API_KEY to a key of the box")
FACTS = """You are the front desk of a small museum. Answer in one short sentence, only from
these facts, and say so if they do not tell. Open ten to six, closed on Mondays.
A ticket is eight euros, free under eighteen. The cloakroom is behind the stairs."""

programs = []  # the microphone and the speaker

async def command(*words):  # in a separate session: Ctrl-C reaches this program only
    programs.append(await asyncio.create_subprocess_exec(
        *words, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=True))
    return programs[-1]

async def listen(chat):
    microphone = await command("arecord", "-q", "-t", "raw", "-f", "S16_LE", "-r", "16000")
    while sound := await microphone.stdout.read(3200):  # 100 ms
        await chat.send(sound)

async def answer(chat):
    speaker = None
    async for text in chat:
        m = json.loads(text)
        match m["type"]:
            case "user_message":
                print("Visitor:", m["message"]["content"])
            case "assistant_message":
                print("Desk:   ", m["message"]["content"])
            case "audio_output":  # a WAV file: 44 bytes of header, then 48 kHz mono
                if speaker is None:
                    speaker = await command("aplay", "-q", "-t", "raw", "-f", "S16_LE", "-r", "48000")
                speaker.stdin.write(base64.b64decode(m["data"])[44:])
            case "user_interruption" if speaker:  # the visitor speaks: stop at once
                speaker.kill()
                speaker = None
            case "error":
                print(m["code"], m["message"])

async def main():
    async with connect(BOX + "?api_key=" + KEY) as chat:
        await chat.send(json.dumps({
            "type": "session_settings",
            "system_prompt": FACTS,
            "audio": {"encoding": "linear16", "sample_rate": 16000, "channels": 1},
        }))
        try:
            await asyncio.gather(listen(chat), answer(chat))
        finally:
            for program in programs:
                with contextlib.suppress(ProcessLookupError):
                    program.kill()
                await program.wait()

try:
    asyncio.run(main())
except KeyboardInterrupt:
    print("\nThe desk is closed.")
except (OSError, WebSocketException) as problem:
    sys.exit(f"desk.py: {problem}")
