"""A question that is answered with one of many things, found by typing parts of it."""

from collections.abc import Sequence
from typing import ClassVar, Final

import msgspec
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.fuzzy import Matcher
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from pisces.render.shown_text import one_line
from pisces.tui.dialogs.dialog import Dialog
from pisces.tui.line_input import LineInput

_MOST_SHOWN: Final = 200


class Choice(msgspec.Struct, frozen=True):
    """One of them."""

    key: str
    """What the answer is when it is taken."""
    text: str
    more: str = ""
    """What stands behind it, paler."""


class Pick(Dialog[str]):
    """One of the choices; where `free` is set, also what was typed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move('cursor_down')", show=False, priority=True),
        Binding("up", "move('cursor_up')", show=False, priority=True),
        Binding("pagedown", "move('page_down')", show=False, priority=True),
        Binding("pageup", "move('page_up')", show=False, priority=True),
    ]

    def __init__(self, question: str, choices: Sequence[Choice], *, free: bool = False, hint: str = "") -> None:
        super().__init__(question)
        self._choices = tuple({each.key: each for each in choices}.values())  # A list takes each key once only.
        self._free, self._hint = free, hint

    def compose_answer(self) -> ComposeResult:
        yield LineInput(placeholder=self._hint or "type to find", compact=True)
        yield OptionList(compact=True)

    def on_mount(self) -> None:
        self._show("")

    def on_input_changed(self, message: Input.Changed) -> None:
        self._show(message.value.strip())

    def on_input_submitted(self, message: Input.Submitted) -> None:
        chosen = self.query_one(OptionList).highlighted_option
        if chosen is not None and chosen.id is not None:
            self.dismiss(chosen.id)

    def on_option_list_option_selected(self, message: OptionList.OptionSelected) -> None:
        self.dismiss(message.option_id)

    def action_move(self, way: str) -> None:
        getattr(self.query_one(OptionList), f"action_{way}")()

    def _show(self, wanted: str) -> None:
        options = self.query_one(OptionList)
        offered = (found_or_typed if self._free else found)(wanted, self._choices)
        options.set_options(Option(_line(each), id=each.key) for each in offered[:_MOST_SHOWN])
        options.highlighted = 0 if options.option_count else None


def found(wanted: str, choices: Sequence[Choice]) -> Sequence[Choice]:
    """Those that fit, first those whose name does, the best first; all, as they stand, where nothing is wanted."""
    if not wanted:
        return choices
    matcher = Matcher(wanted)
    scored = [((matcher.match(each.text), matcher.match(f"{each.text} {each.more}")), each) for each in choices]
    return [each for score, each in sorted(scored, key=lambda pair: pair[0], reverse=True) if any(score)]


def found_or_typed(typed: str, choices: Sequence[Choice]) -> Sequence[Choice]:
    """Those that fit, and what was typed: it comes first where it is the whole name of something, else last."""
    fitting = found(typed, choices)
    if not typed:
        return fitting
    named = next((each for each in choices if each.key == typed), None)
    if named is not None:
        return [named, *(each for each in fitting if each is not named)]
    as_typed = Choice(typed, typed, "as typed")
    return [as_typed, *fitting] if _is_whole(typed, choices) else [*fitting[: _MOST_SHOWN - 1], as_typed]


def _is_whole(typed: str, choices: Sequence[Choice]) -> bool:
    """Whether it names a notebook, or has a number where all are known by numbers; else it may be part of a name."""
    return typed.endswith(".ipynb") or (typed.isdecimal() and all(each.key.isdecimal() for each in choices))


def _line(choice: Choice) -> Content:
    return Content.assemble(one_line(choice.text), "  ", (one_line(choice.more), "$text-muted"))
