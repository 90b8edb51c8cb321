"""What several cells did to the namespace together, as if it had been one."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pisces.model.events import Variable, VariableChanges
from pisces.sessions.variables import Names, VariableList, merge_changes, trimmed

NAMES = st.sampled_from("abcdefgh")
NAMESPACES = st.dictionaries(NAMES, st.integers(0, 3))


def changes_between(before: dict[str, int], after: dict[str, int]) -> VariableChanges:
    """What one cell reports that made the second of the first."""
    return VariableChanges(
        tuple(Variable(name, "int", str(after[name])) for name in sorted(after.keys() - before.keys())),
        tuple(
            Variable(name, "int", str(after[name]))
            for name in sorted(after.keys() & before.keys())
            if before[name] != after[name]
        ),
        tuple(sorted(before.keys() - after.keys())),
    )


@given(st.lists(NAMESPACES, min_size=2, max_size=5))
def test_cells_together_are_told_as_one(states: list[dict[str, int]]) -> None:
    merged: VariableChanges | None = None
    for before, after in pairwise(states):
        merged = merge_changes(merged, changes_between(before, after))
    whole = changes_between(states[0], states[-1])
    assert merged is not None
    assert (merged.added, merged.removed) == (whole.added, whole.removed)
    # A name that came back to its old value was still touched: it may be told as changed, but nothing is left out.
    assert set(whole.changed) <= set(merged.changed)
    assert {one.name for one in merged.changed} <= states[0].keys() & states[-1].keys()


def test_at_most_twenty_are_listed_and_the_others_counted() -> None:
    one = VariableChanges(tuple(Variable(f"a{n:02}", "int") for n in range(15)), (), ("gone",))
    two = VariableChanges(tuple(Variable(f"b{n:02}", "int") for n in range(15)), (Variable("c", "int"),))
    merged = trimmed(merge_changes(one, two))
    assert merged is not None
    assert [variable.name for variable in merged.added] == [f"a{n:02}" for n in range(15)] + [
        f"b{n:02}" for n in range(5)
    ]
    assert (merged.changed, merged.removed, merged.more) == ((), (), 12)


def test_a_cell_that_could_not_be_asked_takes_nothing_away() -> None:
    known = VariableChanges((Variable("a", "int"),))
    assert merge_changes(known, None) == known
    assert merge_changes(None, known) == known
    assert merge_changes(None, None) is None


@given(st.lists(NAMESPACES, min_size=1, max_size=5))
def test_what_the_cells_tell_adds_up_to_what_is_there(states: list[dict[str, int]]) -> None:
    names = Names({})
    for before, after in pairwise([{}, *states]):
        names.apply(changes_between(before, after))
    listed = names.listed()
    assert {variable.name: variable.size for variable in listed.variables} == {
        name: str(value) for name, value in states[-1].items()
    }
    assert (listed.current, listed.complete) == (False, True)


def test_names_that_were_left_out_or_not_asked_for_are_not_all_until_the_kernel_lists_them() -> None:
    names = Names({})
    names.apply(VariableChanges(more=3))
    assert not names.listed().complete
    names.replace((Variable("a", "int"),))
    then = names.copy()
    names.apply(VariableChanges((Variable("b", "int"),)))
    names.apply(None)
    assert not names.listed().complete
    assert then.listed() == VariableList((Variable("a", "int"),), current=False, complete=True)


def test_few_changes_are_listed_as_they_are() -> None:
    few = VariableChanges((Variable("a", "int"),), (), ("gone",), 2)
    assert trimmed(few) == few
    assert trimmed(None) is None
