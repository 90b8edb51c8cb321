"""What a MIME bundle has to show."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.model.events import Status
from pisces.output.display import Picture, Shown, interpret
from tests.unit.output.pictures import encoded, png

PIXEL = encoded(png(1, 1))


def test_markdown_comes_before_plain_text_and_plain_text_before_html() -> None:
    bundle = {"text/html": "<b>h</b>", "text/plain": "plain", "text/markdown": "*md*"}
    assert interpret(bundle) == Shown(text="*md*", is_markdown=True)
    del bundle["text/markdown"]
    assert interpret(bundle) == Shown(text="plain")
    del bundle["text/plain"]
    assert interpret(bundle) == Shown(text="**h**", is_markdown=True)


def test_a_html_table_stays_a_table() -> None:
    table = "<table><thead><tr><th>a|b</th><th>c</th></tr></thead><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"
    lines = interpret({"text/html": table}).text.splitlines()
    assert [line.replace(" ", "") for line in lines] == [r"|a\|b|c|", "|----|---|", "|1|2|"]


def test_scripts_styles_titles_and_inline_data_of_html_are_dropped() -> None:
    html = (
        "<head><title>secret title</title></head><style>.x{color:red}</style><script>alert('hi')</script>"
        f"<p>text</p><img alt='dot' src='data:image/png;base64,{PIXEL}'>"
    )
    assert interpret({"text/html": html}).text == "text\n\n![dot](data:image/png)"


def test_html_that_cannot_be_converted_is_shown_as_it_came() -> None:
    text = interpret({"text/html": "%PDF-1.4 not html"}).text
    assert text.startswith("[text/html could not be converted: ")
    assert text.endswith("\n%PDF-1.4 not html")


@pytest.mark.parametrize("value", [{"a": [1]}, [], 0, "text", None])
def test_json_comes_beside_the_text(value: Any) -> None:
    shown = interpret({"application/json": value, "text/plain": "t"})
    assert (shown.json, shown.text) == (value, "t")
    assert interpret({"text/plain": "t"}).json is msgspec.UNSET


def test_pictures_come_beside_the_text_with_their_size() -> None:
    shown = interpret({"image/png": PIXEL + "\n", "text/plain": "<Figure>"})
    assert shown.images == (Picture(mime_type="image/png", data=PIXEL, width=1, height=1),)
    assert shown.text == "<Figure>"


def test_svg_is_handed_on_to_be_kept() -> None:
    assert interpret({"image/svg+xml": ["<svg>", "</svg>"]}) == Shown(svg="<svg></svg>")


@pytest.mark.parametrize("mime", ["application/x-pisces-status", "application/x-omp-status"])
def test_a_status_is_an_event_and_no_text(mime: str) -> None:
    shown = interpret({mime: {"op": "read", "path": "x"}, "text/plain": "not shown"})
    assert shown == Shown(status=Status(op="read", data={"path": "x"}))


def test_a_bundle_of_unknown_types_is_shown_as_json() -> None:
    assert interpret({"application/x-thing": {"é": 1}}).text == '{"application/x-thing": {"é": 1}}'
    assert interpret({}) == Shown()


def test_text_may_come_as_a_list_of_lines() -> None:
    assert interpret({"text/plain": ["a\n", "b"]}).text == "a\nb"


def test_escape_sequences_in_a_display_are_taken_out() -> None:
    assert interpret({"text/plain": "\x1b[31mred\x1b[0m"}).text == "red"


def test_what_is_malformed_is_told_and_the_rest_is_shown() -> None:
    shown = interpret({"text/markdown": 5, "text/plain": "fine", "image/png": "####", "image/jpeg": {}})
    assert shown.text.splitlines()[0] == "fine"
    assert "[text/markdown cannot be shown: text expected, got int]" in shown.text
    assert "[image/png cannot be shown: its base64 is broken" in shown.text
    assert "[image/jpeg cannot be shown: text expected, got dict]" in shown.text
    assert not shown.is_markdown


@pytest.mark.parametrize("data", [None, 5, "op", [], {}, {"op": 5}])
def test_a_status_that_is_none_is_told(data: Any) -> None:
    shown = interpret({"application/x-pisces-status": data})
    assert shown.text == '[application/x-pisces-status cannot be shown: not an object with an "op"]'


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=5,
)
MIME_TYPES = st.sampled_from([
    "text/markdown", "text/plain", "text/html", "application/json", "image/png", "image/jpeg", "image/svg+xml",
    "application/x-pisces-status", "application/x-other",
])  # fmt: skip


@given(bundle=st.dictionaries(MIME_TYPES, JSON_VALUES, max_size=4))
def test_no_bundle_makes_it_raise(bundle: dict[str, Any]) -> None:
    assert "\x1b" not in interpret(bundle).text
