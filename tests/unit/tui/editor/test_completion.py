"""Completion: asked for with a key, offered in a menu, and never in the way of typing."""

import anyio
import pytest

from pisces.errors import PiscesError
from pisces.model.completion import Completion
from pisces.tui.editor.completion_menu import CompletionMenu
from pisces.tui.editor.editor import Editor
from tests.fakes.editors import bench

NAMES = ("alpha", "alphabet", "alpine", "beta", "Gamma")


class Names:
    """A kernel that knows some names, and when it was asked for which."""

    def __init__(self, *names: str) -> None:
        self.names = names or NAMES
        self.asked: list[tuple[str, int]] = []
        self.slow: anyio.Event | None = None

    async def __call__(self, code: str, cursor: int) -> Completion:
        self.asked.append((code, cursor))
        if self.slow is not None:
            await self.slow.wait()
        start = cursor
        while start and code[start - 1].isidentifier():
            start -= 1
        word = code[start:cursor]
        found = tuple(name for name in self.names if name.casefold().startswith(word.casefold()))
        return Completion(found, start, cursor)


async def test_one_match_is_put_in_at_once() -> None:
    async with bench(complete=Names()) as hands:
        await hands.paste("x = be")
        await hands.press("tab")
        await hands.until(lambda: hands.editor.text == "x = beta")
        assert hands.offered == []


async def test_of_several_what_they_share_is_put_in_and_the_rest_is_offered() -> None:
    async with bench(complete=Names()) as hands:
        await hands.paste("f(al)")
        await hands.press("left", "tab")
        await hands.until(lambda: hands.offered == ["alpha", "alphabet", "alpine"])
        assert hands.editor.text == "f(alp)"
        assert "alphabet" in hands.screen
        assert "f(alp)" in hands.screen, "the menu does not hide what is being typed"
        assert "nothing yet" in hands.screen
        await hands.press("down", "tab", "up", "enter")
        assert hands.editor.text == "f(alphabet)"
        assert hands.editor.cursor_location == (0, 10)
        assert hands.offered == []
        assert hands.ran == []


async def test_typing_makes_the_menu_shorter_until_nothing_fits() -> None:
    async with bench(complete=Names()) as hands:
        await hands.paste("al")
        await hands.press("tab")
        await hands.until(lambda: len(hands.offered) == 3)
        await hands.press("h")
        await hands.until(lambda: hands.offered == ["alpha", "alphabet"])
        await hands.press("backspace")
        await hands.until(lambda: len(hands.offered) == 3)
        await hands.press("q")
        await hands.until(lambda: not hands.offered)
        assert hands.editor.text == "alpq"


async def test_escape_closes_the_menu_and_only_then_means_anything_else() -> None:
    async with bench(complete=Names()) as hands:
        await hands.paste("al")
        await hands.press("tab")
        await hands.until(lambda: hands.offered)
        await hands.press("escape")
        assert hands.offered == []
        assert hands.app.escaped == 0
        await hands.press("escape")
        assert hands.app.escaped == 1
        assert hands.editor.has_focus


@pytest.mark.parametrize("key", ["home", "ctrl+u", "f5"])
async def test_going_elsewhere_closes_the_menu(key: str) -> None:
    async with bench(complete=Names()) as hands:
        await hands.paste("x = al")
        await hands.press("tab")
        await hands.until(lambda: hands.offered)
        await hands.press(key)
        await hands.until(lambda: not hands.offered)


async def test_a_slow_kernel_does_not_hold_up_typing_and_its_late_answer_is_dropped() -> None:
    names = Names()
    names.slow = anyio.Event()
    async with bench(complete=names) as hands:
        await hands.paste("al")
        await hands.press("tab")
        await hands.until(lambda: names.asked)
        await hands.press("p", "q")
        assert hands.editor.text == "alpq"
        names.slow.set()
        await hands.pilot.pause(0.1)  # Nothing is to come: there is nothing to wait for.
        assert hands.editor.text == "alpq"
        assert hands.offered == []


async def test_of_two_questions_the_later_counts() -> None:
    names = Names()
    names.slow = anyio.Event()
    async with bench(complete=names) as hands:
        await hands.paste("al")
        await hands.press("tab")
        await hands.until(lambda: len(names.asked) == 1)
        await hands.press("tab")
        await hands.until(lambda: len(names.asked) == 2)
        names.slow.set()
        await hands.until(lambda: len(hands.offered) == 3)
        assert len(hands.app.screen.query(CompletionMenu)) == 1


@pytest.mark.parametrize("error", [PiscesError("gone"), OSError("gone")])
async def test_a_kernel_that_fails_is_one_without_completions(error: Exception) -> None:
    async def failing(code: str, cursor: int) -> Completion:
        raise error

    async with bench(complete=failing) as hands:
        await hands.paste("al")
        await hands.press("tab")
        await hands.until(lambda: "no completions" in hands.screen)
        await hands.press("x")
        assert hands.editor.text == "alx"


@pytest.mark.parametrize(
    "completion",
    [Completion(), Completion(("a",), -1, 2), Completion(("a",), 3, 9), Completion(("a",), 2, 1), Completion((), 0, 2)],
)
async def test_an_answer_that_makes_no_sense_changes_nothing(completion: Completion) -> None:
    async def strange(code: str, cursor: int) -> Completion:
        return completion

    async with bench(complete=strange) as hands:
        await hands.paste("al")
        await hands.press("tab")
        await hands.until(lambda: "no completions" in hands.screen)
        assert hands.editor.text == "al"


async def test_control_characters_and_markup_in_a_match_do_no_harm() -> None:
    async def hostile(code: str, cursor: int) -> Completion:
        return Completion(("a\x1b[2J", "a[bold]b[/]", "a" * 500, "a\nb"), 0, cursor)

    async with bench(complete=hostile, size=(20, 8)) as hands:
        await hands.paste("a")
        await hands.press("tab")
        await hands.until(lambda: len(hands.offered) == 4)
        assert "a[bold]b[/]" in hands.screen
        assert "\x1b" not in hands.screen
        await hands.press("down", "enter")
        assert hands.editor.text == "a[bold]b[/]"


async def test_offsets_count_characters_over_all_lines_and_not_the_sign_before() -> None:
    names = Names("größer", "größte")
    async with bench(complete=names) as hands:
        await hands.paste("$ x = '你👩'\ngr")
        await hands.press("tab")
        await hands.until(lambda: len(hands.offered) == 2)
        assert names.asked == [("x = '你👩'\ngr", 11)]
        await hands.press("down", "enter")
        await hands.until(lambda: hands.editor.text == "$ x = '你👩'\ngrößte")


async def test_capitals_need_not_be_typed() -> None:
    async with bench(complete=Names()) as hands:
        await hands.paste("gam")
        await hands.press("tab")
        await hands.until(lambda: hands.editor.text == "Gamma")


@pytest.mark.parametrize("size", [(20, 6), (12, 4), (100, 40)])
async def test_the_menu_fits_any_screen(size: tuple[int, int]) -> None:
    names = tuple(f"a{number:02}" + "y" * 30 for number in range(50))
    async with bench(complete=Names(*names), size=size) as hands:
        await hands.paste("a")
        await hands.press("tab")
        await hands.until(lambda: hands.offered)
        menu = hands.app.screen.query_one(CompletionMenu)
        await hands.until(lambda: menu.region.height > 0)
        assert hands.app.screen.region.contains_region(menu.region)
        cursor = hands.app.query_one(Editor).cursor_screen_offset
        assert not menu.region.contains_point(cursor)
        await hands.press("pagedown", "pageup", "up", "enter")
        assert hands.editor.text == names[-1]
