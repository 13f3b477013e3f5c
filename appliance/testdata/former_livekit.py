"""Speaks a sentence with the TTS plugin of LiveKit's agents and the plugin's default voice,
format, instant mode and address."""

import asyncio

import aiohttp
from livekit.plugins import hume


async def seconds(tts):
    total = 0.0
    async for piece in tts.synthesize("The museum opens at ten."):
        total += piece.frame.duration
    return total


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
