"""What is kept, and what goes."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.render.kept import Kept


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 12)), max_size=60))
def test_what_was_asked_for_last_is_kept_within_the_bound(steps: list[tuple[int, int]]) -> None:
    kept, sizes = Kept[int, int](20), dict[int, int]()
    for key, size in steps:
        assert kept.get(key) == sizes.get(key)
        kept.put(key, size, size)
        sizes.pop(key, None)
        sizes[key] = size
        while sum(sizes.values()) > 20 and len(sizes) > 1:
            del sizes[next(iter(sizes))]
        assert (kept.size, len(kept)) == (sum(sizes.values()), len(sizes))


def test_the_last_one_stays_however_large_it_is() -> None:
    kept = Kept[str, str](3)
    kept.put("a", "small", 1)
    kept.put("b", "large", 100)
    assert (kept.get("a"), kept.get("b")) == (None, "large")
