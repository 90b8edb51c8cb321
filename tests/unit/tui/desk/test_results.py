"""What is said of results, and what is stopped first."""

from collections.abc import Sequence
from pathlib import Path

from pisces.host.client import disconnected
from pisces.host.protocol import Told
from pisces.journal.entries import CellBegan, StateChanged
from pisces.journal.tail import Placed
from pisces.model.cells import CellRecord, CellStatus
from pisces.model.results import Details, JobInfo, TextBlock, ToolResult
from pisces.render.blocks import Words
from pisces.render.view import CellView
from pisces.tui.desk.body import Bodies
from pisces.tui.desk.items import CellItem, LocalItem, NoticeItem
from pisces.tui.desk.live import LiveText
from pisces.tui.desk.results import finished_command, tell_result, tell_untold
from pisces.tui.desk.runs import OwnRun, OwnRuns
from pisces.tui.desk.timeline import Timeline
from tests.unit.journal.journaling import BEGAN, cell, joined
from tests.unit.tui.desk.journals import said, timeline_of


def result(*notices: str, status: CellStatus = "complete", **details: object) -> ToolResult:
    cells = [CellRecord(index=0, code="x", status=status, output="out", exit_code=0)]
    made = Details(cells=cells, notices=list(notices), **details)  # type: ignore[arg-type]  # Any of its fields.
    return ToolResult(content=[TextBlock("the text")], details=made, is_error=made.is_error)


def told(given: ToolResult, timeline: Timeline | None = None) -> Sequence[str]:
    timeline = timeline or Timeline()
    tell_result(given, timeline)
    return said(timeline)


def test_a_call_that_ran_nothing_says_why() -> None:
    assert told(result("…", status="pending", is_error=True)) == ["the text"]
    assert told(ToolResult(content=[TextBlock("Error: no")], is_error=True)) == ["Error: no"]


def test_what_the_cell_itself_shows_is_not_said_beside_it() -> None:
    assert told(result("Command exited with code 1", status="error", is_error=True)) == []
    assert told(result("Command was interrupted", "A remark.", status="error", is_error=True)) == ["A remark."]
    assert told(result("Not kept: 18 more images than a result holds (32): save them as files.")) == []


def test_what_became_of_the_state_is_said_once() -> None:
    timeline = timeline_of(joined(BEGAN, cell(1, "a"), StateChanged(5.0, "restored", "It is back.", 1)))
    assert told(result("[State: restored] It is back."), timeline) == ["It is back."]
    assert told(result("[State: unknown] Who knows.")) == ["Who knows."]


def test_a_host_that_is_gone_is_told_as_what_it_means_for_the_state() -> None:
    timeline = Timeline()
    tell_result(disconnected("s"), timeline)
    (item,) = timeline.items
    assert isinstance(item, NoticeItem)
    assert item.notice.kind == "unknown"
    assert item.notice.text.startswith("The background host ended")


def test_a_cell_that_its_journal_does_not_tell_of_is_shown_by_its_result() -> None:
    timeline = timeline_of([BEGAN])
    expected = timeline.expect("x", LiveText())
    tell_untold(result(), timeline, expected)
    (item,) = timeline.items
    assert isinstance(item, LocalItem)
    assert Bodies().view(item).blocks == (Words("out", "stdout"),)


def test_a_cell_whose_end_could_not_be_written_is_not_shown_as_running_for_ever() -> None:
    timeline = timeline_of([BEGAN])
    expected = timeline.expect("x", LiveText())
    timeline.follow(Path("journal"), [Placed(CellBegan(2.0, 1, "x"), 1, 2)], 2)
    assert [each.running for each in timeline.items] == [True]
    tell_untold(result(), timeline, expected)
    (item,) = timeline.items
    assert isinstance(item, CellItem)
    assert timeline.running is None
    assert not item.running
    assert (Bodies().view(item).status, Bodies().view(item).blocks) == ("complete", (Words("out", "stdout"),))


def test_what_the_journal_tells_is_not_told_again_by_the_result() -> None:
    for code in ("x", "x = 1"):  # Also where the journal has another wording of it.
        timeline = timeline_of([BEGAN])
        expected = timeline.expect("x", LiveText())
        entries = [Placed(entry, at, at + 1) for at, entry in enumerate(cell(1, code), 1)]
        timeline.follow(Path("journal"), entries, len(entries) + 1)
        tell_untold(result(), timeline, expected)
        (item,) = timeline.items
        assert isinstance(item, CellItem)
        assert item.told is None


def test_a_job_is_named() -> None:
    job = JobInfo(id="job-1", session="s", state="running", title="x", cells=1, cells_done=0, started="", seconds=0.1)
    (text,) = told(result("job-1 is running in the background of session 's', …", job=job))
    assert text.startswith("job-1 runs in the background")


def test_a_command_of_the_shell_ends_with_its_output_or_with_what_was_refused() -> None:
    running = CellView(code="ls", language="bash", status="running")
    done = finished_command(running, result())
    assert (done.status, done.blocks) == ("complete", (Words("out", "stdout"),))
    refused = finished_command(running, ToolResult(content=[TextBlock("Error: no")], is_error=True))
    assert (refused.status, refused.blocks) == ("error", (Words("Error: no", "stdout"),))


class Call:
    """A call that remembers whether it was cancelled."""

    def __init__(self) -> None:
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True


def sent(timeline: Timeline, count: int) -> tuple[OwnRuns, list[OwnRun]]:
    runs = OwnRuns()
    made = [OwnRun(timeline, Call(), LiveText()) for _ in range(count)]  # type: ignore[arg-type]  # No task.
    for run in made:
        runs.add(run)
    return runs, made


def stopped(runs: list[OwnRun]) -> list[bool]:
    return [run.stopped for run in runs]


def test_an_interrupt_stops_what_runs_and_a_second_one_what_waits() -> None:
    timeline = Timeline()
    runs, made = sent(timeline, 3)
    made[0].live.hear(Told(True, ""))
    assert runs.stop(timeline)
    assert stopped(made) == [True, False, False]
    assert runs.stop(timeline)
    assert stopped(made) == [True, True, True]
    assert runs.stop(Timeline()) is False


def test_a_call_that_still_waits_for_its_kernel_can_be_stopped() -> None:
    timeline = Timeline()
    runs, made = sent(timeline, 1)
    assert runs.stop(timeline)
    assert stopped(made) == [True]


def test_a_cell_of_somebody_else_is_not_taken_for_ones_own() -> None:
    timeline = timeline_of([BEGAN, CellBegan(2.0, 1, "theirs")])
    runs, made = sent(timeline, 1)
    assert not runs.stop(timeline)
    assert stopped(made) == [False]
