"""What is found when a person types parts of what they want."""

import pytest
from textual.app import App

from pisces.tui.dialogs.pick import _MOST_SHOWN, Choice, Pick, found, found_or_typed
from tests.fakes.drive import eventually

CHOICES = (
    Choice("1", "trial", "here · 5 cells · weather"),
    Choice("2", "weather-2", "here · 1 cell · weather"),
    Choice("3", "weather", "here · 9 cells · weather"),
)
ARTIFACTS = (Choice("295", "295", "python.log · 5 KB"), Choice("55", "55", "python.log · 3 KB"))
NOTEBOOKS = tuple(Choice(path, path) for path in ("sub/my-new.ipynb", "lesson5.ipynb", "a/lesson5.ipynb"))


def test_a_name_comes_before_those_that_only_have_the_words_behind_it() -> None:
    assert [each.text for each in found("weather", CHOICES)] == ["weather", "weather-2", "trial"]


def test_what_stands_behind_a_name_finds_it_too() -> None:
    assert [each.text for each in found("5 cells", CHOICES)] == ["trial"]


def test_without_a_wish_all_stand_as_they_are_and_nothing_fits_another() -> None:
    assert found("", CHOICES) == CHOICES
    assert found("xyz", CHOICES) == []


async def test_what_is_there_twice_can_be_picked_once() -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        answered = list[str | None]()
        app.push_screen(Pick("Which?", [*CHOICES, CHOICES[0]]), answered.append)
        await pilot.press(*"trial", "enter")
        assert answered == ["1"]


@pytest.mark.parametrize(
    ("typed", "choices", "first"),
    [
        ("5", ARTIFACTS, "5"),
        ("295", ARTIFACTS, "295"),
        ("new.ipynb", NOTEBOOKS, "new.ipynb"),
        ("lesson5.ipynb", NOTEBOOKS, "lesson5.ipynb"),
        ("5", NOTEBOOKS, "lesson5.ipynb"),
        ("new", NOTEBOOKS, "sub/my-new.ipynb"),
        ("xyz", NOTEBOOKS, "xyz"),
    ],
)
def test_what_was_typed_comes_first_where_it_is_a_whole_name(
    typed: str, choices: tuple[Choice, ...], first: str
) -> None:
    keys = [each.key for each in found_or_typed(typed, choices)]
    assert keys[0] == first
    assert keys.count(typed) == 1


def test_what_was_typed_is_offered_however_much_fits() -> None:
    many = [Choice(f"lesson{number}.ipynb", f"lesson{number}.ipynb") for number in range(2 * _MOST_SHOWN)]
    offered = found_or_typed("lesson", many)
    assert [each.key for each in offered[:_MOST_SHOWN]][-1] == "lesson"


@pytest.mark.parametrize(("typed", "choices", "answer"), [("5", ARTIFACTS, "5"), ("new.ipynb", NOTEBOOKS, "new.ipynb")])
async def test_enter_takes_a_whole_name_that_was_typed_and_not_what_looks_like_it(
    typed: str, choices: tuple[Choice, ...], answer: str
) -> None:
    app: App[None] = App()
    async with app.run_test() as pilot:
        answered = list[str | None]()
        app.push_screen(Pick("Which?", choices, free=True), answered.append)
        await pilot.press(*typed, "enter")
        await eventually(lambda: bool(answered))
        assert answered == [answer]
