import re
from pathlib import Path

import msgspec
import pytest

from pisces.settings.describe import allowed_values, show_value
from pisces.settings.schema import GROUPS, SETTINGS, OutputSettings, SettingInfo, Settings

REFERENCE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "settings.md"


@pytest.mark.parametrize("info", SETTINGS.values(), ids=SETTINGS)
def test_a_setting_has_a_sentence_and_a_default_that_it_allows(info: SettingInfo) -> None:
    assert re.fullmatch(r"[A-Z].*\.", info.description)
    assert msgspec.convert(msgspec.to_builtins(info.default), info.type) == info.default
    assert info.value_in(Settings()) == info.default


@pytest.mark.parametrize("info", SETTINGS.values(), ids=SETTINGS)
def test_a_setting_is_in_the_reference_with_its_default_and_what_it_allows(info: SettingInfo) -> None:
    rows = [line for line in REFERENCE.read_text(encoding="utf-8").splitlines() if line.startswith(f"| `{info.name}` ")]
    assert rows == [f"| `{info.name}` | `{show_value(info.default)}` | {allowed_values(info)} | {info.description} |"]


def test_names_are_camel_case_below_their_groups() -> None:
    assert all(re.fullmatch(r"[a-z]+(\.[a-z]+)*\.[a-z][A-Za-z]*", name) for name in SETTINGS)
    assert set(GROUPS) == {"python", "python.env", "python.modules", "notebook", "bridge", "output"}


def test_only_the_user_may_choose_interpreter_modules_variables_and_addresses() -> None:
    user_only = {name for name, info in SETTINGS.items() if info.user_only}
    assert user_only == {"python.interpreter", "python.preload", "python.env.allow", "bridge.url", "bridge.port"}


def test_the_beginning_never_gets_more_than_half_of_what_is_shown() -> None:
    assert OutputSettings().head_budget == 20_480
    assert OutputSettings(max_bytes=10_000).head_budget == 5_000


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Settings().python.backend = "native"  # type: ignore[misc]
