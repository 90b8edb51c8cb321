"""What a run found is written into the source of the catalogue, and nothing else there is changed."""

import ast

from scripts.state_expectations import Expectation, updated
from tests.state.catalogue.entry import NO_VALUE, Entry, Library

SOURCE = '''"""Ä page of the catalogue."""

from tests.state.catalogue.entry import NO_VALUE, Entry, Library

ONE = Library(
    "one",
    modules=("ö",),
    entries=(
        Entry("ä", "x = 'ü'", "x"),  # A reason.
        Entry("b", "x = 2", use="x", back="not", because="it is old", untold="it has no name"),
        Entry("c", "x = 3", "x" "[0]"),
    ),
)

OTHER = Library("other", entries=(Entry("ä", "x = 1", "x"),), back="exact")
'''


def libraries(source: str) -> dict[str, Library]:
    namespace: dict[str, object] = {}
    exec(compile(ast.parse(source), "catalogue", "exec"), namespace)
    return {library.name: library for library in namespace.values() if isinstance(library, Library)}


def test_what_is_found_is_what_is_expected_from_then_on() -> None:
    found = {"one": {"ä": Expectation("by_value"), "b": Expectation("by_value"), "c": Expectation("not", NO_VALUE)}}
    source = updated(SOURCE, found)
    one = libraries(source)["one"]
    assert one.entries == (
        Entry("ä", "x = 'ü'", "x"),
        Entry("b", "x = 2", "x", untold="it has no name"),
        Entry("c", "x = 3", "x[0]", "not", NO_VALUE),
    )
    assert (one.back, one.modules) == ("by_value", ("ö",))
    assert "because=NO_VALUE" in source
    assert "# A reason." in source


def test_a_reason_that_somebody_gave_is_kept() -> None:
    found = {
        "one": {"ä": Expectation("not", "a new one"), "b": Expectation("not", "a new one"), "c": Expectation("exact")}
    }
    one = libraries(updated(SOURCE, found))["one"]
    assert [(entry.because, entry.untold) for entry in one.entries if one.expected(entry) == "not"] == [
        ("a new one", ""),
        ("it is old", "it has no name"),
    ]


def test_a_library_that_fared_as_expected_keeps_its_source() -> None:
    found = {"one": {name: Expectation("exact") for name in "äbc"}}
    before, after = SOURCE.partition("OTHER"), updated(SOURCE, found).partition("OTHER")
    assert after[2] == before[2]
    assert updated(SOURCE, {}) == SOURCE
