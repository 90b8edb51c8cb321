"""Both themes can be read: text has the contrast that people with weak sight need."""

import pytest
from textual.color import Color
from textual.theme import Theme

from pisces.tui.themes import DARK, LIGHT

ENOUGH = 4.5
"""What WCAG asks of text, level AA."""


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted(map(_luminance, (one, other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(name: str) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in Color.parse(name).normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_measure_is_the_known_one() -> None:
    assert contrast("#000000", "#ffffff") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", ["background", "surface", "panel"])
@pytest.mark.parametrize("text", ["foreground", "primary", "secondary", "accent", "success", "warning", "error"])
def test_text_stands_out_from_every_ground(theme: Theme, ground: str, text: str) -> None:
    assert contrast(getattr(theme, text), getattr(theme, ground)) >= ENOUGH


@pytest.mark.parametrize("theme", [DARK, LIGHT], ids=lambda theme: theme.name)
@pytest.mark.parametrize("ground", ["error", "warning"])
def test_what_became_of_the_state_stands_out_in_its_bar(theme: Theme, ground: str) -> None:
    assert contrast(theme.background or "", getattr(theme, ground)) >= ENOUGH
