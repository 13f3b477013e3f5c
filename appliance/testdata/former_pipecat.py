"""A Pipecat pipeline speaks a sentence with its service for the old name; the words have
their times."""

import asyncio
import os

import httpx
from hume import HumeClient
from pipecat.frames.frames import EndFrame, TTSAudioRawFrame, TTSSpeakFrame, TTSTextFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineTask
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.hume.tts import HumeTTSService

# The service waits for a piece of sound as long as HTTPX does by itself, 5 s: too
# short where other tests have the cores.
httpx._config.DEFAULT_TIMEOUT_CONFIG.read = 60


class Ear(FrameProcessor):
    def __init__(self):
        super().__init__()
        self.sound, self.words = b"", []

    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            self.sound += frame.audio
        if isinstance(frame, TTSTextFrame):
            self.words.append((frame.text, frame.pts))
        await self.push_frame(frame, direction)


async def main():
    joe = next(
        v.id
        for v in HumeClient(api_key=os.environ["HUME_API_KEY"]).tts.voices.list(provider="HUME_AI")
        if v.name == "Joe"
    )
    ear = Ear()
    tts = HumeTTSService(api_key=os.environ["HUME_API_KEY"], settings=HumeTTSService.Settings(voice=joe))
    task = PipelineTask(Pipeline([tts, ear]))
    await task.queue_frames([TTSSpeakFrame("The museum opens at ten."), EndFrame()])
    await PipelineRunner(handle_sigint=False).run(task)
    assert 1 < len(ear.sound) / 96000 < 5, len(ear.sound)
    assert [w.strip(".") for w, _ in ear.words] == ["The", "museum", "opens", "at", "ten"], ear.words
    times = [t for _, t in ear.words]
    assert times == sorted(times) and len(set(times)) == 5, times
    print("done")


asyncio.run(main())
