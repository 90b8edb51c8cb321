from typing import Any
from unittest.mock import MagicMock

import pytest

from pisces.guest.display import bundle_of
from tests.unit.guest.recording import RecordedShell

RICH = """
class Rich:
    def __repr__(self): return "rich"
    def _repr_html_(self): return "<b>rich</b>"
    def _repr_png_(self): return b"\\x89PNG"
    def _repr_latex_(self): return None
    def _repr_json_(self): return {"n": float("nan")}, {"expanded": True}
    def _repr_svg_(self): raise NotImplementedError
"""
BROKEN = """
class Broken:
    def __repr__(self): return "broken"
    def _repr_html_(self): raise ValueError("no html")
    def _repr_markdown_(self): return "*broken*"
"""


def test_every_form_of_an_object_is_shown(shell: RecordedShell) -> None:
    assert shell.ok(RICH + "Rich()") == "rich"
    _, data, metadata, _ = shell.channel.events[0]
    assert data == {
        "text/html": "<b>rich</b>",
        "image/png": "iVBORw==",
        "application/json": {"n": "NaN"},
        "text/plain": "rich",
    }
    assert metadata == {"application/json": {"expanded": True}}


def test_a_bundle_of_the_objects_own_comes_first(shell: RecordedShell) -> None:
    cell = """
class Own:
    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"text/html": "own", "text/plain": "text", "image/png": b"a"}, {"image/png": {"width": 3}}
    def _repr_html_(self): return "not asked"
    def _repr_markdown_(self): return "md"
Own()
"""
    shell.ok(cell)
    _, data, metadata, _ = shell.channel.events[0]
    assert data == {"text/html": "own", "text/plain": "text", "image/png": "YQ==", "text/markdown": "md"}
    assert metadata == {"image/png": {"width": 3}}


def test_a_method_that_raises_does_not_break_the_display(
    shell: RecordedShell, capsys: pytest.CaptureFixture[str]
) -> None:
    assert shell.ok(BROKEN + "Broken()") == "broken"
    assert shell.channel.events[0][1] == {"text/markdown": "*broken*", "text/plain": "broken"}
    assert capsys.readouterr().err == "Broken._repr_html_ raised ValueError: no html\n"


def test_an_object_without_a_repr_is_still_shown(shell: RecordedShell, capsys: pytest.CaptureFixture[str]) -> None:
    text = shell.ok("class Mute:\n    def __repr__(self): 1/0\nMute()")
    assert text is not None
    assert text.startswith("<Mute object at 0x")
    assert "Mute.__repr__ raised ZeroDivisionError" in capsys.readouterr().err


def test_an_object_that_answers_to_any_name_is_shown_as_text() -> None:
    class Anything:
        def __getattr__(self, name: str) -> Any:
            return lambda *args, **options: "answer"

    assert list(bundle_of(Anything())[0]) == ["text/plain"]
    assert list(bundle_of(MagicMock())[0]) == ["text/plain"]


def test_a_class_is_not_asked_for_what_its_objects_show(shell: RecordedShell) -> None:
    shell.ok(RICH + "Rich")
    assert list(shell.channel.events[0][1]) == ["text/plain"]


def test_a_dict_is_json_when_displayed_and_text_as_a_result(shell: RecordedShell) -> None:
    assert shell.ok("display({'a': (1, float('inf'))}, [1])\n{'a': 1}") == "{'a': 1}"
    assert shell.channel.bundles == [
        {"text/plain": "{'a': (1, inf)}", "application/json": {"a": [1, "Infinity"]}},
        {"text/plain": "[1]", "application/json": [1]},
    ]
    assert shell.channel.events[-1][:2] == ("result", {"text/plain": "{'a': 1}"})


def test_display_can_be_limited_to_some_forms(shell: RecordedShell) -> None:
    shell.ok(
        RICH + "display(Rich(), include=['text/html'])\ndisplay(Rich(), exclude=['image/png', 'application/json'])"
    )
    assert shell.channel.bundles == [{"text/html": "<b>rich</b>", "text/plain": "rich"}] * 2


def test_a_raw_bundle_is_shown_as_it_is(shell: RecordedShell) -> None:
    shell.ok("display({'text/html': '<i>\\ud800</i>', 'image/png': b'a'}, raw=True, metadata={'k': float('nan')})")
    bundle = {"text/html": "<i>\ufffd</i>", "image/png": "YQ=="}
    assert shell.channel.events == [("display", bundle, {"k": "NaN"}, None, False)]
    assert "not str" in shell.error("display('x', raw=True)").evalue


def test_a_display_can_be_updated_by_its_handle(shell: RecordedShell) -> None:
    shell.ok(
        "handle = display('one', display_id=True)\nhandle.update('two')\nupdate_display('three', display_id='mine')"
    )
    (_, one, _, first, updates_first), (_, two, _, second, updates_second), (_, _, _, third, _) = shell.channel.events
    assert (one["text/plain"], updates_first) == ("'one'", False)
    assert (two["text/plain"], updates_second) == ("'two'", True)
    assert first == second == shell.namespace["handle"].display_id
    assert third == "mine"


def test_output_can_be_taken_back(shell: RecordedShell) -> None:
    shell.ok("clear_output()\nclear_output(wait=True)\ndisplay('x', clear=True)")
    assert [event[:2] for event in shell.channel.events[:3]] == [
        ("clear_output", False),
        ("clear_output", True),
        ("clear_output", True),
    ]


def test_an_unknown_option_of_display_is_an_error(shell: RecordedShell) -> None:
    assert "'colour'" in shell.error("display(1, colour=2)").evalue
    assert "display_id" in shell.error("display(1, update=True)").evalue
