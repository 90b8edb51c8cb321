"""Events of cells become outputs as a notebook has them, and whoever writes them knows what is new."""

import json
import re
import signal

import nbformat
import pytest

from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent, ClearOutput, Display, Done, Error, ProcessExit, Result, Stream
from pisces.notebooks.recorder import Recorder, RunState


def out(text: str) -> Stream:
    return Stream("stdout", text)


def err(text: str) -> Stream:
    return Stream("stderr", text)


def stream(text: list[str], name: str = "stdout") -> dict[str, object]:
    return {"output_type": "stream", "name": name, "text": text}


def play(recorder: Recorder, index: int, *events: AnyEvent, done: Done | None = None) -> None:
    recorder.began(CellRecord(index=index, title="", code=""))
    for event in events:
        recorder.took(event)
    recorder.ended(done or Done("ok", execution_count=index + 1))


def of(*events: AnyEvent, done: Done | None = None) -> RunState:
    """What becomes of one cell. It must be valid whatever it was."""
    recorder = Recorder()
    play(recorder, 0, *events, done=done)
    state = recorder.take_news()[0]
    for output in state.outputs:
        nbformat.validate(json.loads(json.dumps(output)), ref=output["output_type"], version=4)
    return state


def test_text_of_one_stream_is_one_output_and_a_list_of_lines() -> None:
    assert of(out("a"), out("b\nc"), out("\n"), err("x\n"), out("d")).outputs == [
        stream(["ab\n", "c\n"]),
        stream(["x\n"], "stderr"),
        stream(["d"]),
    ]


def test_a_cell_that_says_nothing_has_no_outputs_and_a_count() -> None:
    assert of(done=Done("ok", execution_count=7)) == RunState([], 7)


def test_results_and_displays_are_put_down_as_they_came() -> None:
    bundle = {"text/plain": "a\nb", "application/json": {"k": [1]}, "image/svg+xml": "<svg>\n</svg>"}
    shown, result = of(Display(bundle, {"a": 1}), Result({"text/plain": "42"}, execution_count=3)).outputs
    saved = {"text/plain": ["a\n", "b"], "application/json": {"k": [1]}, "image/svg+xml": ["<svg>\n", "</svg>"]}
    assert shown == {"output_type": "display_data", "data": saved, "metadata": {"a": 1}}
    assert result == {
        "output_type": "execute_result",
        "data": {"text/plain": ["42"]},
        "metadata": {},
        "execution_count": 3,
    }


def test_an_error_has_its_traceback() -> None:
    (error,) = of(Error("E", "why", ("one", "two")), done=Done("error")).outputs
    assert error == {"output_type": "error", "ename": "E", "evalue": "why", "traceback": ["one", "two"]}


def test_clearing_takes_away_what_was_there() -> None:
    assert of(out("a\n"), ClearOutput(), out("b\n")).outputs == [stream(["b\n"])]
    assert of(out("a\n"), ClearOutput()).outputs == []


def test_clearing_that_waits_happens_with_the_next_output_and_not_without_one() -> None:
    assert of(out("a\n"), ClearOutput(wait=True), out("b\n")).outputs == [stream(["b\n"])]
    assert of(out("a\n"), ClearOutput(wait=True)).outputs == [stream(["a\n"])]


def test_an_update_changes_the_display_and_adds_none() -> None:
    first = Display({"text/plain": "0 %"}, display_id="bar")
    after = Display({"text/plain": "100 %"}, display_id="bar", update=True)
    stranger = Display({"text/plain": "?"}, display_id="other", update=True)
    outputs = of(first, out("x\n"), after, stranger).outputs
    assert [output.get("data") for output in outputs] == [{"text/plain": ["100 %"]}, None]


def test_an_update_of_an_earlier_cell_is_news_of_that_cell() -> None:
    recorder = Recorder()
    play(recorder, 0, Display({"text/plain": "old"}, display_id="bar"))
    play(recorder, 1, out("between\n"))
    recorder.take_news()
    play(recorder, 2, Display({"text/plain": "new"}, display_id="bar", update=True))
    news = recorder.take_news()
    assert news[0].outputs[0]["data"] == {"text/plain": ["new"]}
    assert (news[0].execution_count, news[2].outputs) == (1, [])


@pytest.mark.parametrize("kind", [Display, Result])
def test_a_new_display_under_the_id_of_an_earlier_one_is_news_of_both_cells_and_of_no_other(
    kind: type[Display | Result],
) -> None:
    recorder = Recorder()
    play(recorder, 0, Display({"text/plain": "old"}, display_id="bar"))
    play(recorder, 1, Display({"text/plain": "other"}, display_id="foo"))
    recorder.take_news()
    play(recorder, 2, kind({"text/plain": "new"}, display_id="bar"))
    news = recorder.take_news()
    assert [(index, state.outputs[0]["data"]) for index, state in news.items()] == [
        (0, {"text/plain": ["new"]}),
        (2, {"text/plain": ["new"]}),
    ]


def test_the_display_of_a_call_before_is_not_there_to_be_updated() -> None:
    assert of(Display({"text/plain": "x"}, display_id="bar", update=True)).outputs == []


def test_news_are_told_once_and_again_when_they_are_given_back() -> None:
    recorder = Recorder()
    assert not recorder.has_news
    play(recorder, 0, out("a\n"))
    play(recorder, 1, out("b\n"))
    assert sorted(recorder.take_news()) == [0, 1]
    assert (recorder.has_news, recorder.take_news()) == (False, {})
    recorder.give_back([1])
    assert list(recorder.take_news()) == [1]


def test_a_cell_that_begins_is_news_so_that_its_old_outputs_go() -> None:
    recorder = Recorder()
    recorder.began(CellRecord(index=3, title="", code=""))
    assert recorder.take_news() == {3: RunState([], None)}


def test_what_was_taken_does_not_change_any_more() -> None:
    recorder = Recorder()
    recorder.began(CellRecord(index=0, title="", code=""))
    recorder.took(out("a\n"))
    taken = recorder.take_news()[0]
    recorder.took(out("b\n"))
    assert taken.outputs == [stream(["a\n"])]
    assert recorder.take_news()[0].outputs == [stream(["a\n", "b\n"])]


def test_a_cell_that_is_run_again_begins_again() -> None:
    recorder = Recorder()
    play(recorder, 0, out("first\n"))
    play(recorder, 0, out("second\n"))
    assert recorder.take_news()[0].outputs == [stream(["second\n"])]


def test_what_comes_when_no_cell_runs_is_nobodys() -> None:
    recorder = Recorder()
    recorder.took(out("early"))
    recorder.ended(Done("ok"))
    assert not recorder.has_news


def test_a_crash_is_an_error_that_says_how_the_kernel_ended() -> None:
    died = Done("crashed", state="lost", process_exit=ProcessExit(signal=signal.SIGSEGV, detail="Current thread"))
    state = of(out("before\n"), done=died)
    assert state.outputs[0] == stream(["before\n"])
    error = state.outputs[1]
    assert (error["output_type"], error["ename"]) == ("error", "KernelDied")
    assert "SIGSEGV" in error["evalue"]
    assert error["traceback"] == [error["evalue"], "Current thread"]
    assert state.execution_count is None


def test_endless_text_is_cut_in_the_middle_and_says_where_all_of_it_is() -> None:
    recorder = Recorder(lambda: "12")
    recorder.began(CellRecord(index=0, title="", code=""))
    for number in range(300):
        recorder.took(out(f"{number:09}\n" * 1024))
    recorder.ended(Done("ok"))
    (output,) = recorder.take_news()[0].outputs
    text = "".join(output["text"])
    note = re.search(r"\n\[…(\d+) characters are not in the notebook; artifact 12 has all of the text…\]\n", text)
    assert note is not None
    assert len(text) - len(note[0]) + int(note[1]) == 300 * 1024 * 10
    assert 1 << 20 <= len(text) < 1 << 21
    assert (text[:10], text[-10:]) == ("000000000\n", "000000299\n")


def test_what_is_cleared_makes_room() -> None:
    recorder = Recorder()
    recorder.began(CellRecord(index=0, title="", code=""))
    for number in range(5):
        recorder.took(ClearOutput())
        recorder.took(out(f"{number}" * 512 * 1024 + "\n"))
    recorder.ended(Done("ok"))
    (output,) = recorder.take_news()[0].outputs
    assert output["text"] == ["4" * 512 * 1024 + "\n"]


def test_displays_that_are_too_many_are_counted() -> None:
    recorder = Recorder()
    recorder.began(CellRecord(index=0, title="", code=""))
    for _ in range(10):
        recorder.took(Display({"image/png": "A" * (7 << 20)}))
    recorder.ended(Done("ok"))
    outputs = recorder.take_news()[0].outputs
    assert [output["output_type"] for output in outputs] == ["display_data"] * 9 + ["stream"]
    assert outputs[-1]["text"] == ["\n", "[1 display was more than the notebook keeps]\n"]


def test_of_a_display_that_is_too_large_the_small_parts_are_kept() -> None:
    recorder = Recorder()
    recorder.began(CellRecord(index=0, title="", code=""))
    recorder.took(Display({"image/png": "A" * (33 << 20), "text/plain": "a figure"}))
    recorder.ended(Done("ok"))
    display, note = recorder.take_news()[0].outputs
    assert display["data"] == {"text/plain": ["a figure"]}
    assert note["text"] == ["\n", "[1 display was more than the notebook keeps]\n"]


def test_of_a_display_that_is_updated_for_hours_the_last_state_is_kept() -> None:
    recorder = Recorder()
    recorder.began(CellRecord(index=0, title="", code=""))
    recorder.took(Display({"image/png": "A"}, display_id="plot"))
    for number in range(15):
        recorder.took(Display({"image/png": f"{number:04}" * (5 << 20)}, display_id="plot", update=True))
    recorder.ended(Done("ok"))
    (output,) = recorder.take_news()[0].outputs
    assert output["data"]["image/png"][-4:] == "0014"


def test_updates_of_many_displays_are_bounded_together() -> None:
    recorder = Recorder()
    recorder.began(CellRecord(index=0, title="", code=""))
    for number in range(10):
        recorder.took(Display({"image/png": "A"}, display_id=f"plot {number}"))
        recorder.took(Display({"image/png": "B" * (7 << 20)}, display_id=f"plot {number}", update=True))
    recorder.ended(Done("ok"))
    *displays, note = recorder.take_news()[0].outputs
    assert [output["data"]["image/png"][0] for output in displays] == ["B"] * 9 + ["A"]
    assert note["text"] == ["\n", "[1 display was more than the notebook keeps]\n"]
