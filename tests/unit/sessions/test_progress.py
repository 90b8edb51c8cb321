"""What those who watch a call are told, and what is kept for them."""

from pathlib import Path

from pisces.kernels.deadline import Deadline
from pisces.model.cells import CellRecord
from pisces.model.events import Stream
from pisces.output.artifacts import ArtifactStore
from pisces.output.sink import SinkLimits
from pisces.sessions.progress import Progress
from pisces.sessions.stop import StopSignal
from pisces.sessions.transcript import OutputPiece, Transcript


async def test_for_a_listener_that_hears_no_more_nothing_is_kept(tmp_path: Path) -> None:
    heard: list[OutputPiece] = []
    transcript = Transcript(session="s", tool="python", artifacts=ArtifactStore(tmp_path), limits=SinkLimits())
    stop = StopSignal(Deadline.after(60))
    progress = Progress(None, transcript, stop=stop, on_output=heard.extend)
    transcript.begin(CellRecord(index=0, code=""), 1)
    transcript.take(Stream("stdout", "heard"))
    await progress.output()
    progress.mute()
    transcript.take(Stream("stdout", "not heard"))
    await progress.output()
    assert [text for _, text in heard] == ["", "heard"]
    assert transcript.take_pieces() == []
    transcript.end(ok=True)
    assert transcript.sink.dump().text == "heardnot heard"
