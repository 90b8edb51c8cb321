"""What is found when a person types parts of what they want."""

from textual.app import App

from pisces.tui.dialogs.pick import Choice, Pick, found

CHOICES = (
    Choice("1", "trial", "here · 5 cells · weather"),
    Choice("2", "weather-2", "here · 1 cell · weather"),
    Choice("3", "weather", "here · 9 cells · weather"),
)


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
