"""Messages in, events out: whatever the order, whoever else speaks, and however it ends."""

import itertools

import pytest

from pisces.kernels.jupyter.message import Message
from pisces.kernels.jupyter.tracker import STDIN_MIME, ExecutionTracker
from pisces.model.events import (
    AnyEvent,
    ClearOutput,
    Display,
    Error,
    InputRequested,
    ProcessExit,
    Result,
    Started,
    Status,
    Stream,
)
from tests.unit.kernels.jupyter.talk import CLIENT, reply, said, state, stream


def fed(*messages: Message) -> tuple[ExecutionTracker, list[AnyEvent]]:
    tracker = ExecutionTracker("request", CLIENT)
    return tracker, [event for message in messages for event in tracker.take(message)]


@pytest.mark.parametrize("order", list(itertools.permutations([reply(), state("idle"), stream("x")])))
def test_it_is_finished_when_both_have_come_and_not_before(order: tuple[Message, ...]) -> None:
    tracker, _ = fed(state("busy"))
    for message in order:
        seen = {m.type for m in order[: order.index(message)]}
        assert tracker.finished == ({"execute_reply", "status"} <= seen)
        tracker.take(message)
    assert tracker.finished


def test_output_of_every_kind_becomes_its_event() -> None:
    _, events = fed(
        state("busy"),
        stream("out"),
        stream("err", "stderr"),
        said("display_data", {"data": {"text/plain": "d"}, "metadata": {"m": 1}, "transient": {"display_id": "i"}}),
        said("update_display_data", {"data": {"text/plain": "e"}, "metadata": {}, "transient": {"display_id": "i"}}),
        said("execute_result", {"data": {"text/plain": "4"}, "metadata": {}, "execution_count": 7}),
        said("clear_output", {"wait": True}),
        said("error", {"ename": "E", "evalue": "v", "traceback": ["\x1b[31mE\x1b[0m: v"]}),
    )
    assert events == [
        Started(),
        Stream("stdout", "out"),
        Stream("stderr", "err"),
        Display({"text/plain": "d"}, {"m": 1}, "i"),
        Display({"text/plain": "e"}, {}, "i", True),
        Result({"text/plain": "4"}, 7),
        ClearOutput(True),
        Error("E", "v", ("E: v",)),
    ]


def test_a_status_display_is_a_status_under_both_names() -> None:
    for mime in ("application/x-pisces-status", "application/x-omp-status"):
        _, events = fed(said("display_data", {"data": {mime: {"op": "read", "path": "a"}}}))
        assert events == [Status("read", {"path": "a"})]


def test_comm_messages_and_unknown_ones_do_no_harm() -> None:
    tracker, events = fed(
        said("comm_open", {"comm_id": "c", "target_name": "jupyter.widget", "data": {}}),
        said("comm_msg", {"comm_id": "c", "data": {}}),
        said("iopub_welcome", {}, to=""),
        said("nobody_knows", {"x": 1}),
        said("stream", {}),
        said("display_data", {"data": None}),
        said("status", {}),
        said("comm_info_reply", {}, channel="shell"),
    )
    assert [event for event in events if not isinstance(event, Display)] == []
    assert not tracker.finished
    assert tracker.exit is None


def test_what_another_client_runs_is_not_ours() -> None:
    _, events = fed(stream("theirs", to="other", asked_by="somebody"), state("busy", to="other"))
    assert events == []


def test_what_a_thread_of_an_earlier_cell_prints_is_heard() -> None:
    _, events = fed(stream("late", to="earlier"), stream("from nowhere", to=""))
    assert events == [Stream("stdout", "late"), Stream("stdout", "from nowhere")]


def test_an_error_of_an_earlier_cell_is_not_ours() -> None:
    _, events = fed(said("error", {"ename": "E", "evalue": "", "traceback": []}, to="earlier"))
    assert events == []


@pytest.mark.parametrize("name", ["restarting", "dead", "starting"])
def test_a_death_is_seen_whoever_it_is_told_to(name: str) -> None:
    for to in ("", "request", "other"):
        tracker, _ = fed(state("busy"), state(name, to=to))
        assert tracker.exit is not None
        assert not tracker.finished


@pytest.mark.parametrize("how", [{"code": 3}, {"signal": 11}])
def test_how_it_died_is_known_where_the_server_tells(how: dict[str, int]) -> None:
    tracker, _ = fed(said("status", {"execution_state": "dead", "pisces_exit": how}, to=""))
    assert tracker.exit == ProcessExit(code=how.get("code"), signal=how.get("signal"))


def test_a_shutdown_by_somebody_else_is_seen() -> None:
    tracker, _ = fed(said("shutdown_reply", {"restart": True}, to="other", asked_by="somebody"))
    assert tracker.exit is not None
    assert "somebody else" in tracker.exit.describe()


@pytest.mark.parametrize("kind", ["data", "message"])
def test_output_that_the_server_left_out_is_noticed(kind: str) -> None:
    text = f"IOPub {kind} rate exceeded.\nThe Jupyter server will temporarily stop sending output\n"
    tracker, events = fed(stream(text, "stderr", session=CLIENT))
    assert (tracker.dropped, events) == (kind, [])


def test_a_program_that_prints_the_servers_words_is_not_taken_for_the_server() -> None:
    tracker, events = fed(stream("IOPub data rate exceeded.\n", "stderr"))
    assert (tracker.dropped, len(events)) == ("", 1)


def test_a_prompt_is_told_and_has_to_be_answered() -> None:
    request = said("input_request", {"prompt": "Name? ", "password": False}, channel="stdin")
    tracker, events = fed(request)
    assert events == [InputRequested("Name? ")]
    assert tracker.unanswered_input == [request]


def test_a_prompt_that_was_refused_in_the_kernel_needs_no_answer() -> None:
    tracker, events = fed(said("display_data", {"data": {STDIN_MIME: {"prompt": "P", "password": True}}}))
    assert events == [InputRequested("P", password=True)]
    assert tracker.unanswered_input == []


def test_long_text_comes_in_pieces_and_whole() -> None:
    text = "äbc" * 200_000
    _, events = fed(stream(text))
    pieces = [event.text for event in events if isinstance(event, Stream)]
    assert "".join(pieces) == text
    assert max(map(len, pieces)) <= 1 << 18


@pytest.mark.parametrize(
    ("content", "interrupted", "python", "expected"),
    [
        ({"status": "ok"}, False, True, "ok"),
        ({"status": "ok"}, True, True, "ok"),
        ({"status": "error", "ename": "ValueError"}, False, True, "error"),
        ({"status": "error", "ename": "KeyboardInterrupt"}, True, True, "interrupted"),
        ({"status": "error", "ename": "KeyboardInterrupt"}, False, True, "error"),
        ({"status": "error", "ename": "ValueError"}, True, True, "error"),
        ({"status": "error", "ename": ""}, True, False, "interrupted"),
        ({"status": "aborted"}, False, True, "aborted"),
        ({"status": "abort"}, True, False, "interrupted"),
    ],
)
def test_how_it_ended(content: dict[str, str], interrupted: bool, python: bool, expected: str) -> None:
    tracker, _ = fed(reply(**content), state("idle"))
    tracker.interrupted = interrupted
    assert tracker.status(python=python) == expected


@pytest.mark.parametrize(
    ("ename", "evalue", "lines"),
    [("E", "v", ("E: v",)), ("", "no such thing", ("no such thing",)), ("", "127", ()), ("", "", ("",))],
)
def test_an_error_without_a_traceback_is_told_in_short_and_an_exit_code_by_the_result(
    ename: str, evalue: str, lines: tuple[str, ...]
) -> None:
    _, events = fed(said("error", {"ename": ename, "evalue": evalue, "traceback": []}))
    assert Error(ename, evalue, lines) in events


def test_an_interrupt_that_struck_in_the_shell_is_one_under_another_name() -> None:
    tracker = ExecutionTracker("request", CLIENT)
    tracker.interrupted = True
    lines = ["KeyboardInterrupt", "During handling of the above exception", "AttributeError: no shell"]
    tracker.take(said("error", {"ename": "AttributeError", "evalue": "no shell", "traceback": lines}))
    tracker.take(reply("error", ename="AttributeError"))
    assert tracker.status(python=True) == "interrupted"


@pytest.mark.parametrize(
    ("ename", "evalue", "code"),
    [
        ("SystemExit", "", 0),
        ("SystemExit", "None", 0),
        ("SystemExit", "3", 3),
        ("SystemExit", "-1", -1),
        ("SystemExit", "a message", 1),
        ("SystemExit", "9" * 50, 1),
        ("", "127", 127),
        ("", "not found", None),
        ("ValueError", "3", None),
    ],
)
def test_the_exit_code_that_the_code_chose(ename: str, evalue: str, code: int | None) -> None:
    tracker, _ = fed(reply("error", ename=ename, evalue=evalue))
    assert tracker.exit_code() == code


def test_an_error_that_is_in_the_reply_only_is_told_once() -> None:
    tracker, _ = fed(reply("error", ename="E", evalue="v", traceback=["E: v"]), state("idle"))
    assert tracker.closing_events() == [Error("E", "v", ("E: v",))]
    assert tracker.closing_events() == []


def test_an_error_that_was_published_is_not_told_again() -> None:
    tracker, _ = fed(said("error", {"ename": "E", "evalue": "v", "traceback": []}), reply("error", ename="E"))
    assert tracker.closing_events() == []


@pytest.mark.parametrize("status", ["ok", "error"])
def test_help_that_is_meant_for_a_pager_is_shown(status: str) -> None:
    page = {"source": "page", "data": {"text/plain": "Docstring: it helps"}, "start": 0}
    odd = ["nothing", {"source": "page", "data": None}, {"source": "set_next_input", "text": "x"}]
    tracker, _ = fed(reply(status, payload=[*odd, page], ename="E", evalue="v"))
    error = [Error("E", "v", ("E: v",))] if status == "error" else []
    assert tracker.closing_events() == [Display({"text/plain": "Docstring: it helps"}), *error]
