"""A Pipecat pipeline speaks a sentence with its service for the cloud; each word has its
time."""

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

# The service waits for sound for HTTPX's default of 5 s, which is too short when other
# tests keep the cores busy.
httpx._config.DEFAULT_TIMEOUT_CONFIG.read = 60


class Recorder(FrameProcessor):
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
    recorder = Recorder()
    tts = HumeTTSService(api_key=os.environ["HUME_API_KEY"], settings=HumeTTSService.Settings(voice=joe))
    task = PipelineTask(Pipeline([tts, recorder]))
    await task.queue_frames([TTSSpeakFrame("The museum opens at ten."), EndFrame()])
    await PipelineRunner(handle_sigint=False).run(task)
    assert 1 < len(recorder.sound) / 96000 < 5, len(recorder.sound)
    assert [w.strip(".") for w, _ in recorder.words] == ["The", "museum", "opens", "at", "ten"], recorder.words
    times = [t for _, t in recorder.words]
    assert times == sorted(times) and len(set(times)) == 5, times
    print("done")


asyncio.run(main())
