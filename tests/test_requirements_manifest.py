"""Every behaviour that the reference states is shown by a test that exists."""

import re
import tomllib
from collections import Counter
from typing import Any

from tests.source_tree import ROOT, has_test

MANIFEST = ROOT / "tests" / "requirements.toml"
REFERENCE = ROOT / "docs" / "reference"
KEYS = {"id", "statement", "doc", "tests"}
ID = re.compile(r"[a-z][a-z0-9-]*(\.[a-z0-9-]+)+")


def test_every_behaviour_names_tests_that_exist() -> None:
    assert [problem for entry in behaviours() for problem in problems_of(entry)] == []


def test_no_id_is_there_twice() -> None:
    counts = Counter(str(entry.get("id")) for entry in behaviours())
    assert [name for name, count in counts.items() if count > 1] == []


def test_every_page_of_the_reference_has_behaviours() -> None:
    pages = {page.relative_to(ROOT).as_posix() for page in REFERENCE.glob("**/*.md")}
    assert pages - {entry.get("doc") for entry in behaviours()} == set()


def test_the_check_sees_each_kind_of_mistake() -> None:
    here = "tests/test_requirements_manifest.py"
    good = {"id": "a.b", "statement": "It is so.", "doc": "README.md", "tests": [f"{here}::{the_name_of_this_test()}"]}
    assert problems_of({**good, "doc": here}) == []
    mistakes: list[dict[str, Any]] = [
        {"id": "No Name"},
        {"statement": " "},
        {"doc": "docs/reference/missing.md"},
        {"tests": []},
        {"tests": [here]},
        {"tests": [f"{here}::test_that_is_missing"]},
        {"tests": ["tests/test_missing.py::test_x"]},
        {"surplus": 1},
    ]
    for wrong in mistakes:
        assert len(problems_of({**good, "doc": here, **wrong})) == 1, wrong


def the_name_of_this_test() -> str:
    return test_the_check_sees_each_kind_of_mistake.__name__


def behaviours() -> list[dict[str, Any]]:
    content = tomllib.loads(MANIFEST.read_text(encoding="utf-8"))
    assert set(content) <= {"behaviour"}, f"unknown tables in {MANIFEST.name}: {sorted(content)}"
    entries: list[dict[str, Any]] = content.get("behaviour", [])
    return entries


def problems_of(entry: dict[str, Any]) -> list[str]:
    """What is wrong with one entry, each as a sentence that says where."""
    name = entry.get("id", "an entry without id")
    if set(entry) != KEYS:
        return [f"{name}: has the keys {sorted(entry)}, and needs {sorted(KEYS)}"]
    problems = []
    if not ID.fullmatch(entry["id"]):
        problems.append(f"{name}: an id is page.name in small letters, digits and hyphens")
    if not entry["statement"].strip():
        problems.append(f"{name}: states nothing")
    if not (ROOT / entry["doc"]).is_file():
        problems.append(f"{name}: there is no {entry['doc']}")
    if not entry["tests"]:
        problems.append(f"{name}: no test shows it")
    problems += [f"{name}: there is no test {test}" for test in entry["tests"] if not has_test(test)]
    return problems
