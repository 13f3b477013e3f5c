"""Speaks a sentence with the TTS of LiveKit's agents, with the defaults of the plugin: its
voice, its format, its instant mode, and the old address."""

import asyncio

import aiohttp
from livekit.plugins import hume


async def seconds(tts):
    heard = 0.0
    async for piece in tts.synthesize("The museum opens at ten."):
        heard += piece.frame.duration
    return heard


async def main():
    async with aiohttp.ClientSession() as session:
        tts = hume.TTS(http_session=session)  # MP3
        assert 1 < await seconds(tts) < 5
        tts.update_options(
            audio_format=hume.AudioFormat.pcm,
            voice=hume.VoiceByName(name="Joe", provider=hume.VoiceProvider.hume),
            description="calm",
            speed=1.2,
            trailing_silence=0.5,
        )
        assert 1 < await seconds(tts) < 5
    print("done")


asyncio.run(main())
