"""The editor, driven by keys."""

import time
from pathlib import Path

import pytest
from textual.color import Color
from textual.events import Key
from textual.theme import Theme

from pisces.tui.desk.typed import Typed
from pisces.tui.editor.past_inputs import PastInputs
from pisces.tui.themes import DARK, LIGHT
from tests.fakes.editors import bench
from tests.unit.tui.test_themes import contrast


async def test_enter_runs_what_is_whole_and_empties_the_editor() -> None:
    async with bench() as hands:
        await hands.paste("x = 1")
        await hands.press("enter")
        assert hands.ran == [Typed("python", "x = 1")]
        assert hands.editor.text == ""
        await hands.press("enter")
        assert len(hands.ran) == 1


async def test_a_block_is_typed_line_by_line_and_run_by_an_empty_line() -> None:
    async with bench() as hands:
        await hands.press(*"if x:", "enter", *"y", "enter")
        assert hands.editor.text == "if x:\n    y\n    "
        await hands.press("enter")
        assert hands.ran == [Typed("python", "if x:\n    y")]


async def test_enter_in_the_midst_makes_a_new_line() -> None:
    async with bench() as hands:
        await hands.paste("a\nb")
        await hands.press("up", "end", "enter")
        assert hands.editor.text == "a\n\nb"
        assert hands.ran == []


async def test_keys_that_always_make_a_line_and_keys_that_always_run() -> None:
    async with bench() as hands:
        await hands.press("a", "ctrl+j", "b", "shift+enter", "(")
        assert hands.editor.text == "a\nb\n("
        await hands.press("f5")
        await hands.press("c", "f6")
        await hands.press("d", "ctrl+enter")
        assert [(message.typed.text, message.background) for message in hands.app.submitted] == [
            ("a\nb\n(", False),
            ("c", True),
            ("d", False),
        ]


async def test_keys_that_come_at_once_are_taken_in_the_order_in_which_they_were_pressed() -> None:
    async with bench() as hands:
        pressed = [("a", "a"), ("b", "b"), ("backspace", None), ("c", "c"), ("left", None), ("d", "d")]
        for key, character in pressed:
            hands.app.post_message(Key(key, character))
        await hands.press("f5")
        assert hands.ran == [Typed("python", "adc")]


async def test_tab_and_backspace_go_by_levels_in_the_white_space_before_a_line() -> None:
    async with bench() as hands:
        await hands.paste("a\n")
        await hands.press("tab", "tab")
        assert hands.editor.text == "a\n        "
        await hands.press("backspace")
        assert hands.editor.text == "a\n    "
        await hands.press("b", "shift+tab")
        assert hands.editor.text == "a\nb"
        await hands.press("backspace")
        assert hands.editor.text == "a\n"


async def test_selected_lines_are_indented_together_and_stay_selected() -> None:
    async with bench() as hands:
        await hands.paste("a\n\nb")
        await hands.press("f7", "tab")
        assert hands.editor.text == "    a\n\n    b"
        assert hands.editor.selected_text.strip().startswith("a")
        await hands.press("shift+tab")
        assert hands.editor.text == "a\n\nb"
        await hands.press("ctrl+z", "ctrl+z")
        assert hands.editor.text == "a\n\nb"


async def test_tab_in_an_empty_editor_and_shift_tab_at_the_margin_are_not_taken() -> None:
    async with bench() as hands:
        for key in ("tab", "shift+tab"):
            event = Key(key, None)
            await hands.editor._on_key(event)
            assert not event._stop_propagation
        await hands.paste("x")
        event = Key("shift+tab", None)
        await hands.editor._on_key(event)
        assert not event._stop_propagation


async def test_what_was_typed_comes_back_with_up_and_the_draft_with_down() -> None:
    async with bench() as hands:
        await hands.paste("one")
        await hands.press("f5")
        await hands.paste("if two:\n    three")
        await hands.press("f5")
        await hands.paste("draft")
        await hands.press("up")
        assert hands.editor.text == "if two:\n    three"
        await hands.press("up")
        assert hands.editor.text == "one"
        await hands.press("up")
        assert hands.editor.text == "one"
        await hands.press("ctrl+down", "down")
        assert hands.editor.text == "draft"


async def test_up_within_a_text_of_several_lines_moves_the_cursor() -> None:
    async with bench() as hands:
        await hands.paste("one")
        await hands.press("f5")
        await hands.paste("a\nb")
        await hands.press("up")
        assert hands.editor.text == "a\nb"
        assert hands.editor.cursor_location[0] == 0
        await hands.press("up")
        assert hands.editor.text == "one"


async def test_a_search_finds_what_has_all_the_words_in_it_and_takes_it(tmp_path: Path) -> None:
    past = PastInputs(tmp_path / "h", session=lambda: ["def load(path):\n    return open(path)", "print(1)"])
    past.add("import json")
    async with bench(past=past) as hands:
        await hands.press("ctrl+r")
        assert "import json" in hands.screen
        await hands.press(*"PATH open")
        await hands.until(lambda: "import json" not in hands.screen)
        assert "return open(path)" in hands.screen
        await hands.press("enter")
        await hands.until(lambda: hands.editor.text == "def load(path):\n    return open(path)")
        assert hands.editor.has_focus
        await hands.press("ctrl+z")
        assert hands.editor.text == ""


async def test_a_search_that_is_left_changes_nothing_and_one_that_finds_nothing_says_so() -> None:
    past = PastInputs(session=lambda: ["print(1)"])
    async with bench(past=past) as hands:
        await hands.paste("draft")
        await hands.press("ctrl+r", *"qq", "enter")
        assert "Nothing that was typed has that in it." in hands.screen
        await hands.press("escape")
        assert hands.editor.text == "draft"


async def test_a_command_for_the_shell_is_told_from_code() -> None:
    async with bench() as hands:
        assert "python" in hands.screen
        assert hands.editor.language == "python"
        await hands.paste("! ls")
        await hands.until(lambda: "shell" in hands.screen)
        assert hands.editor.language is None
        assert hands.editor.cursor_location == (0, 4)
        await hands.press("enter")
        assert hands.ran == [Typed("shell", "ls")]
        await hands.until(lambda: hands.editor.language == "python")


async def test_a_draft_waits_for_its_session() -> None:
    async with bench() as hands:
        hands.editor.work_at("a")
        await hands.paste("for a")
        hands.editor.work_at("b")
        assert hands.editor.text == ""
        await hands.paste("for b")
        hands.editor.work_at("a")
        assert hands.editor.text == "for a"
        hands.editor.work_at("b")
        assert hands.editor.text == "for b"


async def test_the_editor_grows_with_its_text_up_to_a_third_of_the_screen() -> None:
    async with bench(size=(60, 30)) as hands:
        assert "Enter runs" in hands.screen
        assert hands.editor.outer_size.height == 3
        await hands.paste("a\nb\nc")
        await hands.until(lambda: hands.editor.outer_size.height == 5)
        await hands.paste("\n" * 40)
        await hands.until(lambda: hands.editor.outer_size.height == 10)


@pytest.mark.parametrize("size", [(20, 6), (8, 3), (200, 60)])
async def test_any_size_of_the_screen_will_do(size: tuple[int, int]) -> None:
    past = PastInputs(session=lambda: ["print(1)\n" * 20, "x" * 300])
    async with bench(size=size, past=past) as hands:
        await hands.paste("print('a long line that has to be wrapped somewhere')\nif x:")
        assert hands.editor.size.height >= 1
        await hands.press("enter", "x", "up", "left", "ctrl+r", "down", "enter")
        await hands.until(lambda: hands.editor.text == "x" * 300)
        await hands.press("ctrl+z", "f5")
        assert len(hands.ran) == 1


async def test_a_screen_without_room_for_a_character_breaks_nothing() -> None:
    async with bench() as hands:
        for size in ((4, 3), (1, 1), (5, 2)):
            await hands.pilot.resize_terminal(*size)
            await hands.press("x", "backspace")
        await hands.pilot.resize_terminal(60, 18)
        await hands.until(lambda: "Enter runs" in hands.screen)


async def test_what_is_pasted_is_cleaned_and_never_run_by_itself() -> None:
    async with bench() as hands:
        await hands.paste("a\r\nb\rc\x1b[31m\x1b]52;c;aGk=\x07\x00\x08\x7f\td\u2028e\ud800\n\n")
        assert hands.editor.text == "a\nb\nc\td\ne\n\n"
        assert hands.ran == []


HARD = "e\u0301\u0301 你好 👩‍👩‍👧 \u202eabc\u2066 אבג \u200f\u0300 \U0001f1e9\U0001f1ea \ufe0f"


async def test_wide_combining_and_turning_characters_are_edited_as_they_are() -> None:
    async with bench(size=(24, 10)) as hands:
        await hands.paste(f"x = '{HARD}'")
        assert hands.editor.text == f"x = '{HARD}'"
        assert "\u202e" not in hands.screen
        assert "\u2066" not in hands.screen
        hands.editor.move_cursor((0, 5))
        await hands.press("a", "end", "left", "z", "backspace", "end", "ctrl+w", "ctrl+z")
        assert hands.editor.text == f"x = 'a{HARD}'"
        await hands.press("enter")
        assert hands.ran == [Typed("python", f"x = 'a{HARD}'")]


@pytest.mark.parametrize("text", ["x = 1  # what\n" * 80_000, "x" * 1_000_000, "ab cd " * 170_000], ids=len)
async def test_after_a_paste_of_a_megabyte_keys_are_answered_and_all_of_it_is_run(text: str) -> None:
    async with bench() as hands:
        await hands.paste("a = 1\n")
        began = time.process_time()
        await hands.paste(text)
        await hands.press("z", "left", "backspace", "ctrl+z", "end")
        assert time.process_time() - began < 5
        assert "characters" in hands.screen
        assert hands.editor.text == f"a = 1\n{text}z"
        await hands.press("f5")
        assert hands.ran == [Typed("python", f"a = 1\n{text}z")]


async def test_a_text_that_is_too_long_for_colours_has_none_and_keeps_its_cursor() -> None:
    async with bench() as hands:
        await hands.paste("x = 1\n" * 3_000)
        await hands.until(lambda: hands.editor.language is None)
        assert hands.editor.cursor_location == (3_000, 0)
        assert hands.editor.text == "x = 1\n" * 3_000


async def test_a_file_of_inputs_that_cannot_be_written_is_told_of_once(tmp_path: Path) -> None:
    async with bench(past=PastInputs(tmp_path), size=(80, 24)) as hands:
        await hands.until(lambda: "not kept for later" in hands.screen)
        await hands.paste("x")
        await hands.press("enter")
        assert hands.ran == [Typed("python", "x")]


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
async def test_code_has_colours_that_can_be_read_in_both_themes(theme: Theme) -> None:
    async with bench() as hands:
        hands.app.register_theme(theme)
        await hands.paste("import x; y = 'a', 1 # why")
        hands.app.theme = theme.name
        await hands.pilot.pause()
        grounds = theme.background or "", theme.surface or ""
        seen = set()
        for line in hands.app.screen._compositor.render_strips():
            for segment in line:
                if segment.text.strip() in ("import", "'a'", "1", "# why") and segment.style and segment.style.color:
                    colour = Color.from_rich_color(segment.style.color).hex
                    seen.add(colour)
                    assert all(contrast(colour, ground) >= 4.5 for ground in grounds)
        assert len(seen) == 4


async def test_what_a_mark_stands_for_is_copied_and_cut() -> None:
    async with bench() as hands:
        await hands.paste("x" * 5_000)
        await hands.press("f7")
        assert hands.editor.selected_text == "x" * 5_000
        await hands.press("ctrl+x")
        assert hands.app.clipboard == "x" * 5_000
        assert hands.editor.text == ""
        await hands.press("ctrl+v")
        assert hands.editor.text == "x" * 5_000
