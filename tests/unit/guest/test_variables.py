"""What a cell did to the namespace is told by name, type and size, and nothing of the user's is kept alive for it."""

import gc
import weakref
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pisces.guest.given_names import GivenNames
from pisces.guest.variables import NamespaceWatch


@pytest.fixture
def namespace() -> dict[str, Any]:
    return {"prelude": 1}


@pytest.fixture
def watch(namespace: dict[str, Any]) -> NamespaceWatch:
    made = NamespaceWatch(namespace, GivenNames(namespace))
    made.reset()
    return made


def names(report: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    return [one["name"] for one in report["added"]], [one["name"] for one in report["changed"]], report["removed"]


def test_new_changed_and_deleted_names_are_told_apart(namespace: dict[str, Any], watch: NamespaceWatch) -> None:
    namespace.update(a=1, b="text", c=[1])
    assert names(watch.changes()) == (["a", "b", "c"], [], [])
    namespace["b"] = "other"
    del namespace["a"]
    namespace["d"] = 2.5
    assert names(watch.changes()) == (["d"], ["b"], ["a"])
    assert names(watch.changes()) == ([], [], [])


def test_private_names_and_those_of_the_prelude_are_left_out(namespace: dict[str, Any], watch: NamespaceWatch) -> None:
    namespace.update(_private=1, __dunder__=2, prelude=3)
    assert names(watch.changes()) == ([], [], [])


def test_names_that_are_no_text_are_left_out(namespace: dict[Any, Any], watch: NamespaceWatch) -> None:
    namespace[3] = "three"
    namespace["x"] = 1
    assert names(watch.changes()) == (["x"], [], [])


@pytest.mark.parametrize(
    ("value", "kind", "size"),
    [(7, "int", ""), ("abc", "str", "3"), ([1, 2], "list", "2"), ({"k": 1}, "dict", "1"), (None, "NoneType", "")],
)
def test_a_value_is_described_without_being_shown(
    namespace: dict[str, Any], watch: NamespaceWatch, value: object, kind: str, size: str
) -> None:
    namespace["x"] = value
    assert watch.changes()["added"] == [{"name": "x", "type": kind, "size": size}]


def test_a_list_that_grows_or_changes_at_its_ends_has_changed(namespace: dict[str, Any], watch: NamespaceWatch) -> None:
    values = namespace["values"] = [object(), object()]
    watch.changes()
    values.append(object())
    assert names(watch.changes())[1] == ["values"]
    values[0] = object()
    assert names(watch.changes())[1] == ["values"]


def test_nan_has_not_changed_when_it_was_not_touched(namespace: dict[str, Any], watch: NamespaceWatch) -> None:
    namespace["x"] = float("nan")
    watch.changes()
    assert names(watch.changes()) == ([], [], [])


def test_the_length_of_a_class_of_the_users_is_not_asked_for(namespace: dict[str, Any], watch: NamespaceWatch) -> None:
    class Query:
        def __len__(self) -> int:
            raise AssertionError("this may be a query to a database")

    namespace["query"] = Query()
    assert watch.changes()["added"] == [{"name": "query", "type": "Query", "size": ""}]


def test_an_array_is_described_by_its_shape(namespace: dict[str, Any], watch: NamespaceWatch) -> None:
    class Array:
        shape = (3, 4)

    namespace["array"] = Array()
    assert watch.changes()["added"][0]["size"] == "(3, 4)"


def test_a_shape_that_raises_is_no_size(namespace: dict[str, Any], watch: NamespaceWatch) -> None:
    class Broken:
        @property
        def shape(self) -> tuple[int, ...]:
            raise RuntimeError

    namespace["broken"] = Broken()
    assert watch.changes()["added"][0]["size"] == ""


def test_what_the_user_deletes_is_really_gone(namespace: dict[str, Any], watch: NamespaceWatch) -> None:
    class Big:
        pass

    big = namespace["big"] = Big()
    gone = weakref.ref(big)
    watch.changes()
    del namespace["big"], big
    gc.collect()
    assert gone() is None


def test_at_most_a_thousand_names_are_listed_and_the_rest_counted(
    namespace: dict[str, Any], watch: NamespaceWatch
) -> None:
    namespace.update({f"name{i:04}": i for i in range(1005)})
    report = watch.changes()
    assert len(report["added"]) == 1000
    assert report["more"] == 5


class Slow:
    """Tells its shape while nothing holds it up."""

    held_up = False
    shape = None

    def __init__(self) -> None:
        self.__dict__["shape"] = (2, 3)

    def __getattribute__(self, name: str) -> Any:
        while name == "shape" and Slow.held_up:
            pass
        return super().__getattribute__(name)


def test_a_value_that_does_not_tell_its_size_in_time_has_not_changed(
    namespace: dict[str, Any], watch: NamespaceWatch, monkeypatch: pytest.MonkeyPatch
) -> None:
    namespace |= {"first": Slow(), "second": Slow()}
    assert [each["size"] for each in watch.changes()["added"]] == ["(2, 3)", "(2, 3)"]
    monkeypatch.setattr(Slow, "held_up", True)
    namespace["third"] = Slow()
    report = watch.changes()
    assert ([each["size"] for each in report["added"]], report["changed"]) == ([""], [])
    monkeypatch.setattr(Slow, "held_up", False)
    assert [watch.changes()["changed"] for _ in range(3)] == [[], [], []]
    assert [each["size"] for each in watch.everything()] == ["(2, 3)"] * 3


@pytest.mark.parametrize("raises_at", range(12))
def test_a_name_that_raises_when_it_is_compared_hides_no_other(
    namespace: dict[str, Any], watch: NamespaceWatch, raises_at: int
) -> None:
    class Odd(str):
        __slots__ = ()
        compared = -1_000

        def __hash__(self) -> int:
            return hash("y")

        def __eq__(self, other: object) -> bool:
            Odd.compared += 1
            if Odd.compared == raises_at + 1:
                raise SystemExit
            return self is other

        def __ne__(self, other: object) -> bool:
            if Odd.compared >= 0:
                raise SystemExit
            return self is not other

    namespace["x"] = 1
    namespace[Odd("y")] = 2
    watch.changes()
    namespace["y"] = 3
    Odd.compared = 0
    assert [each["name"] for each in watch.changes()["added"]] == ["y"]
    assert [each["name"] for each in watch.everything()] == ["x", "y"]


def test_names_that_were_there_before_are_listed_ahead_of_new_ones(
    namespace: dict[str, Any], watch: NamespaceWatch
) -> None:
    namespace |= {"changed": 1, "removed": 1}
    watch.changes()
    del namespace["removed"]
    namespace |= {"changed": 2, **{f"name{i:04}": i for i in range(1000)}}
    report = watch.changes()
    assert ([each["name"] for each in report["changed"]], report["removed"]) == (["changed"], ["removed"])
    assert (len(report["added"]), report["more"]) == (998, 2)


keys = st.sampled_from(["a", "b", "c", "d", "_e", "prelude"])
actions = st.lists(st.tuples(keys, st.none() | st.integers(0, 3)), max_size=12)


@given(st.lists(actions, max_size=6))
def test_any_history_is_told_as_a_comparison_of_two_looks_would_tell_it(
    cells: list[list[tuple[str, int | None]]],
) -> None:
    namespace: dict[str, Any] = {"prelude": 1}
    watch = NamespaceWatch(namespace, GivenNames(namespace))
    watch.reset()
    before: dict[str, Any] = {}
    for cell in cells:
        for name, value in cell:
            if value is None:
                namespace.pop(name, None)
            else:
                namespace[name] = value
        now = {name: value for name, value in namespace.items() if name not in {"_e", "prelude"}}
        added = sorted(now.keys() - before.keys())
        removed = sorted(before.keys() - now.keys())
        changed = sorted(name for name in now.keys() & before.keys() if now[name] != before[name])
        assert names(watch.changes()) == (added, changed, removed)
        before = now
