"""Variables are pickled together exactly when each can be reached from each other."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.guest.by_value_groups import groups

NAMES = "abcdefgh"
GRAPHS = st.fixed_dictionaries({name: st.sets(st.sampled_from(NAMES + "z")) for name in NAMES})


def reachable(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    frontier = [start]
    while frontier:
        for name in graph.get(frontier.pop(), set()) - found:
            found.add(name)
            frontier.append(name)
    return found


@given(GRAPHS)
def test_groups_are_the_names_that_reach_each_other(graph: dict[str, set[str]]) -> None:
    reach = {name: reachable(graph, name) for name in graph}
    circles = {
        tuple(other for other in graph if other == name or (other in reach[name] and name in reach[other]))
        for name in graph
    }
    found = groups(graph)
    assert sorted(found) == sorted(list(circle) for circle in circles if len(circle) > 1)


def test_a_long_chain_is_no_group_and_no_recursion() -> None:
    chain = {f"v{n}": {f"v{n + 1}"} for n in range(20_000)}
    assert groups(chain) == []
