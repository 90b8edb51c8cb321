"""Each call of a helper is told in one event, whoever calls it and however it ends."""

import asyncio
import contextvars
import threading
from typing import Any

import pytest

from pisces.guest.prelude.status import emit, helper, tell


@helper("Test")
def outer(path: str) -> str:
    tell(path=path)
    inner(1)
    tell(done=True)
    return path.upper()


@helper("Test", op="within")
def inner(number: int) -> None:
    tell(number=number)


@helper("Test")
def fails(path: str, other: int = 0) -> None:
    raise ValueError(f"{path} is no good")


@helper("Test")
async def waits(number: int, turn: asyncio.Event, after: asyncio.Event) -> int:
    tell(number=number)
    after.set()
    await turn.wait()
    tell(late=number)
    return number


def test_what_a_helper_tells_is_in_its_own_event(events: list[dict[str, Any]]) -> None:
    assert outer("a") == "A"
    assert events == [{"op": "within", "number": 1}, {"op": "outer", "path": "a", "done": True}]


def test_what_raises_is_told_with_what_it_was_about_and_raised_as_it_is(events: list[dict[str, Any]]) -> None:
    with pytest.raises(ValueError, match="a is no good"):
        fails("a", other=3)
    assert events == [{"op": "fails", "path": "a", "error": "ValueError: a is no good"}]


def test_a_call_that_does_not_fit_is_told_too(events: list[dict[str, Any]]) -> None:
    with pytest.raises(TypeError):
        fails()  # type: ignore[call-arg]  # That is what is tried.
    assert [event["op"] for event in events] == ["fails"]
    assert "missing" in events[0]["error"]


class Unspeakable(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


def test_what_cannot_be_put_into_words_is_raised_as_it_is_and_told_nevertheless(events: list[dict[str, Any]]) -> None:
    @helper("Test")
    def raises(path: object) -> None:
        raise Unspeakable

    with pytest.raises(Unspeakable):
        raises(Unspeakable())
    with pytest.raises(Unspeakable):
        raises(10**5000)
    unspoken = "<Unspeakable whose text raised RuntimeError>"
    assert [(event["op"], event["error"]) for event in events] == [("raises", f"Unspeakable: {unspoken}")] * 2
    assert events[0]["path"] == unspoken
    assert events[1]["path"] == "<int whose text raised ValueError>"


def test_what_is_told_does_not_rename_the_event(events: list[dict[str, Any]]) -> None:
    @helper("Test")
    def renames() -> int:
        tell(op="other", more=1)
        return 7

    assert renames() == 7
    assert events == [{"op": "renames", "more": 1}]


def test_functions_that_are_awaited_tell_when_they_are_done_each_for_itself(events: list[dict[str, Any]]) -> None:
    async def both() -> list[int]:
        first, second = asyncio.Event(), asyncio.Event()
        # Each goes on when the other has begun: what they tell is interleaved.
        return list(await asyncio.gather(waits(1, first, second), waits(2, second, first)))

    assert asyncio.run(both()) == [1, 2]
    assert sorted(events, key=lambda event: event["number"]) == [
        {"op": "waits", "number": 1, "late": 1},
        {"op": "waits", "number": 2, "late": 2},
    ]


def test_a_coroutine_that_is_given_up_elsewhere_is_told_and_raises_nothing(events: list[dict[str, Any]]) -> None:
    @helper("Test")
    async def yields(path: str) -> None:
        await asyncio.sleep(0)

    begun = yields("a")
    contextvars.copy_context().run(begun.send, None)
    begun.close()
    assert events == [{"op": "yields", "path": "a", "error": "GeneratorExit"}]


def test_threads_tell_each_for_itself(events: list[dict[str, Any]]) -> None:
    threads = [threading.Thread(target=outer, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(event["path"] for event in events if event["op"] == "outer") == ["a", "b", "c", "d"]
    assert all(event["done"] for event in events if event["op"] == "outer")


def test_outside_of_a_helper_there_is_nothing_to_add_to(events: list[dict[str, Any]]) -> None:
    tell(path="a")
    emit("log", text="b")
    assert events == [{"op": "log", "text": "b"}]


def test_a_helper_keeps_its_name_words_and_signature() -> None:
    import inspect

    assert (outer.__name__, outer.category) == ("outer", "Test")  # type: ignore[attr-defined]  # The decorator sets it.
    assert list(inspect.signature(fails).parameters) == ["path", "other"]
    assert inspect.iscoroutinefunction(waits)


def test_a_helper_without_a_category_is_refused_where_it_is_made() -> None:
    def load() -> None: ...

    with pytest.raises(TypeError, match=r'write @helper\("Data"\)'):
        helper(load)  # type: ignore[arg-type]  # what a user may do
