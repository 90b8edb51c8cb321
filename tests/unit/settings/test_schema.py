import ast
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from pisces.settings.describe import allowed_values, show_value
from pisces.settings.schema import GROUPS, SETTINGS, OutputSettings, SettingInfo, Settings

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "docs" / "reference" / "settings.md"
FILES = {".ipynb", ".md", ".py"}
LAST_PARTS = {name.rpartition(".")[2].lower() for name in SETTINGS}


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


def test_only_the_user_may_choose_what_is_run_what_is_secret_and_what_is_deleted() -> None:
    user_only = {name for name, info in SETTINGS.items() if info.user_only}
    assert user_only == {
        "python.interpreter",
        "python.preload",
        "python.env.allow",
        "python.namedIdleTimeout",
        "bridge.url",
        "bridge.port",
        "output.keepDays",
        "output.artifactLimitMb",
        "output.folderLimitMb",
    }


def _settings_named_in(text: str) -> Iterator[str]:
    """What a text gives out as a setting: it begins as one does (`python.x`), or ends as one does (`x.keep_days`)."""
    for name in re.findall(r"(?<![\w./-])[a-z]+(?:\.[A-Za-z_]+)+(?![\w(./-])", text):
        first, last = name.partition(".")[0], name.rpartition(".")[2]
        ends_as_one = last != last.lower().replace("_", "") and last.lower().replace("_", "") in LAST_PARTS
        if last[0].islower() and (ends_as_one or (first in GROUPS and f".{last}" not in FILES)):
            yield name
    yield from (name.replace("__", ".") for name in re.findall(r"(?<=PI_SET__)\w+", text))


def _messages(source: str) -> Iterator[str]:
    """The texts of a module that a user may read: all but its docstrings."""
    tree = ast.parse(source)
    statements = (node.value for node in ast.walk(tree) if isinstance(node, ast.Expr))
    docstrings = {id(value) for value in statements if isinstance(value, ast.Constant)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def test_every_setting_that_a_message_names_is_there() -> None:
    named = {
        (str(path.relative_to(ROOT)), name)
        for path in (ROOT / "src").rglob("*.py")
        for text in _messages(path.read_text(encoding="utf-8"))
        for name in _settings_named_in(text)
    }
    assert len(named) > 20
    assert {(path, name) for path, name in named if name not in {*SETTINGS, *GROUPS}} == set()


def test_every_setting_that_a_page_names_is_there() -> None:
    mistyped = {"python.kernelmode"}  # The reference shows what is answered to it.
    named = {
        (str(path.relative_to(ROOT)), name)
        for path in [*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "SECURITY.md"]
        for name in _settings_named_in(path.read_text(encoding="utf-8"))
    }
    assert {(path, name) for path, name in named if name not in {*SETTINGS, *GROUPS, *mistyped}} == set()


def test_the_beginning_never_gets_more_than_half_of_what_is_shown() -> None:
    assert OutputSettings().head_budget == 20_480
    assert OutputSettings(max_bytes=10_000).head_budget == 5_000


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        Settings().python.backend = "native"  # type: ignore[misc]
