"""The catalogue says of each class what it has to say, and the page of the documentation says the same."""

import re
from collections import Counter

from scripts.state_table import BESIDE_WORDS, PAGE, beside_on, expected_rows, replaced
from tests.state.catalogue import LIBRARIES


def test_it_has_more_classes_than_any_table_of_its_kind() -> None:
    assert len({(library.name, entry.name) for library in LIBRARIES for entry in library.entries}) >= 500


def test_no_class_is_there_twice() -> None:
    names = Counter((library.name, entry.name) for library in LIBRARIES for entry in library.entries)
    assert [name for name, count in names.items() if count > 1] == []


def test_what_does_not_come_back_has_a_reason() -> None:
    silent = [
        f"{library.name}: {entry.name}"
        for library in LIBRARIES
        for entry in library.entries
        if (library.expected(entry) == "not") != bool(entry.because)
    ]
    assert silent == []


def test_the_page_has_the_table_of_the_catalogue() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert replaced(page, expected_rows(), beside_on(page)) == page, "run `make state-table`"


def test_each_library_of_the_page_was_crashed_while_a_thread_worked() -> None:
    beside = beside_on(PAGE.read_text(encoding="utf-8"))
    assert list(beside) == [library.name for library in LIBRARIES]
    tried = "|".join(word for way, word in BESIDE_WORDS.items() if way != "not")
    assert [library for library, text in beside.items() if not re.match(tried, text)] == []
