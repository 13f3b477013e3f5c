"""Converts a person's recording to another voice with the published Python client. Prints
a line for each check that passes, and exits with 1 at the first that fails."""

import base64, os
from hume import HumeClient
from hume.core.api_error import ApiError
from hume.core.request_options import RequestOptions
from hume.tts import FormatPcm, PostedUtteranceVoiceWithName

tts = HumeClient(base_url=os.environ["BOX_URL"], api_key=os.environ["API_KEY"]).tts
patient = RequestOptions(timeout_in_seconds=300)
voice = PostedUtteranceVoiceWithName(name="joe", provider="HUME_AI")
recording = open(os.environ["RECORDING"], "rb").read()

got = list(
    tts.convert_voice_json(
        audio=("a.wav", recording),
        voice=voice,
        format=FormatPcm(),
        context=None,
        strip_headers=True,
        include_timestamp_types=["word", "phoneme"],
        request_options=patient,
    )
)
chunks = [m for m in got if m.type == "audio"]
kinds = {m.timestamp.type for m in got if m.type == "timestamp"}
assert len(chunks) >= 2 and kinds == {"word", "phoneme"}, (len(chunks), kinds)
assert all(not m.model_extra for m in got), [m.model_extra for m in got]
sound = b"".join(base64.b64decode(m.audio) for m in chunks)
print("a recording becomes messages with times of words and phonemes")

whole = b"".join(
    tts.convert_voice_file(
        audio=("a.wav", recording),
        voice=voice,
        format=FormatPcm(),
        context=None,
        strip_headers=None,
        include_timestamp_types=None,
        request_options=patient,
    )
)
assert whole == sound, (len(whole), len(sound))
print("the file has the same samples")

try:
    list(
        tts.convert_voice_json(
            audio=("a.wav", b"RIFF"),
            voice=voice,
            format=None,
            context=None,
            include_timestamp_types=None,
            request_options=patient,
        )
    )
    raise SystemExit("a broken file is accepted")
except ApiError as e:
    assert e.status_code == 400, e
print("a broken file is refused")
print("done")
