"""Where items are, in lines."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.tui.history.layout import Layout

heights = st.lists(st.integers(1, 30), min_size=1, max_size=30)


@given(heights, st.lists(st.tuples(st.integers(0, 29), st.integers(1, 30)), max_size=20))
def test_every_line_belongs_to_one_item_whatever_is_corrected(
    guesses: list[int], corrections: list[tuple[int, int]]
) -> None:
    layout, wanted = Layout(), list(guesses)
    for guess in guesses:
        layout.add(guess)
    for index, height in corrections:
        if index < len(wanted):
            assert layout.measure(index, height) == height - wanted[index]
            wanted[index] = height
    owners = [index for index, height in enumerate(wanted) for _ in range(height)]
    assert layout.total == len(owners)
    assert [layout.at(line) for line in range(layout.total)] == owners
    assert layout.at(layout.total) == len(wanted)
    assert [layout.bottom(n) - layout.top(n) for n in range(len(wanted))] == wanted
