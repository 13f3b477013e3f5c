"""An app for hume 0.7 to 0.13 that measures expression, in the style of that time: jobs of
analysis and the stream, and no setting for the address. Prints a line for each check that
passes, and exits with 1 at the first that fails."""

import asyncio
import os
import tempfile
import time
import zipfile

import hume
from hume import AsyncHumeClient, HumeClient
from hume.core.api_error import ApiError
from hume.expression_measurement.batch import Face, InferenceBaseRequest, Language, Models, Prosody, Transcription

try:  # 0.13
    from hume.expression_measurement.stream.stream import Config, StreamLanguage

    CALLBACKS = False
except ImportError:
    from hume.expression_measurement.stream import Config, StreamLanguage
    from hume.expression_measurement.stream.socket_client import StreamConnectOptions

    CALLBACKS = True

KEY = os.environ["HUME_API_KEY"]
RECORDING, PORTRAIT = os.environ["RECORDING"], os.environ["PORTRAIT"]
batch = HumeClient(api_key=KEY).expression_measurement.batch


def scored(emotions, names=48):
    assert len(emotions) == names, len(emotions)
    assert all(0 < e.score <= 1 for e in emotions)


def completed(job):
    for _ in range(600):
        details = batch.get_job_details(job)
        assert details.type == "INFERENCE" and details.state.status != "FAILED", details
        if details.state.status == "COMPLETED":
            return details
        time.sleep(0.2)
    raise TimeoutError(job)


def texts():
    job = batch.start_inference_job(
        text=["I am so happy that you came. Thank you!"],
        models=Models(language=Language(granularity="sentence", sentiment={})),
    )
    details = completed(job)
    assert details.state.num_predictions == 2 and details.state.num_errors == 0
    assert details.request.files == [] and details.request.models.language.granularity == "sentence"
    (result,) = batch.get_job_predictions(job)
    assert result.source.type == "text"
    said = result.results.predictions[0].models.language.grouped_predictions[0].predictions
    assert [(p.text, p.position.begin, p.position.end) for p in said] == [
        ("I am so happy that you came.", 0, 28),
        ("Thank you!", 29, 39),
    ], said
    for p in said:
        scored(p.emotions, 53)
        assert len(p.sentiment) == 9
    return job


def files():
    with open(RECORDING, "rb") as recording, open(PORTRAIT, "rb") as portrait:
        job = batch.start_inference_job_from_local_file(
            file=[recording, portrait],
            json=InferenceBaseRequest(
                models=Models(face=Face(min_face_size=50), prosody=Prosody(granularity="utterance")),
                transcription=Transcription(language="en"),
            ),
        )
    details = completed(job)
    assert [f.filename for f in details.request.files] == [os.path.basename(f) for f in (RECORDING, PORTRAIT)]
    assert details.request.models.face.min_face_size == 50 and details.request.models.language is None
    heard, seen = batch.get_job_predictions(job)
    assert heard.source.type == "file" and heard.source.filename == os.path.basename(RECORDING)
    assert heard.results.errors == [] and seen.results.errors == []
    voices = heard.results.predictions[0].models
    assert voices.face is None and voices.prosody.metadata.confidence > 0
    for p in voices.prosody.grouped_predictions[0].predictions:
        assert p.time.begin < p.time.end
        scored(p.emotions)
    (face,) = seen.results.predictions[0].models.face.grouped_predictions[0].predictions
    assert face.frame == 0 and face.box.w > 60
    scored(face.emotions)
    with tempfile.NamedTemporaryFile() as archive:
        batch.get_and_write_job_artifacts(job, file_name=archive.name)
        names = zipfile.ZipFile(archive.name).namelist()
        assert any(n.endswith(".csv") for n in names), names
    return job


def lists(jobs):
    newest = batch.list_jobs(limit=len(jobs), sort_by="created", direction="desc", when="created_before")
    assert [j.job_id for j in newest] == list(reversed(jobs)), newest
    assert len(batch.list_jobs(status=["COMPLETED", "FAILED"], limit=1)) == 1
    assert batch.list_jobs(status="FAILED") == []
    try:
        batch.get_job_predictions("00000000-0000-4000-8000-000000000000")
        raise AssertionError("a job that does not exist has predictions")
    except ApiError as err:
        assert err.status_code == 404


def connect(config):
    stream = AsyncHumeClient(api_key=KEY).expression_measurement.stream
    if CALLBACKS:
        return stream.connect(options=StreamConnectOptions(config=config))
    return stream.connect()


async def streamed():
    words = Config(language=StreamLanguage(granularity="word"))
    async with connect(words) as socket:
        said = await socket.send_text("Mary had a little lamb", config=words, payload_id="first")
        assert said.payload_id == "first" and len(said.language.predictions) == 5, said
        scored(said.language.predictions[0].emotions, 53)
        seen = await socket.send_file(PORTRAIT, config=Config(face={"identify_faces": True}))
        assert seen.face.predictions[0].face_id == "face_0", seen
        scored(seen.face.predictions[0].emotions)
        heard = await socket.send_file(RECORDING, config=Config(prosody={}))
        assert heard.prosody.predictions, heard
        scored(heard.prosody.predictions[0].emotions)
        assert (await socket.reset()).payload_id is None
        details = await socket.get_job_details()
        assert len(details.job_details.job_id) == 36, details
        wrong = await socket.send_file("no base64!", config=Config(prosody={}))
        assert wrong.code == "E0201" and wrong.error, wrong
        wrong = await socket.send_facemesh([[[0.1, 0.2, 0.3]]], config=Config(facemesh={}))
        assert wrong.code == "E0200", wrong


def law(name, run):
    result = run()
    print("ok", name, flush=True)
    return result


jobs = [law("a job of texts", texts), law("a job of files", files)]
law("lists of jobs", lambda: lists(jobs))
law("the stream", lambda: asyncio.run(streamed()))
print("done")
