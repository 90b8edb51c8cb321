"""Which checkpoints a session keeps, and which of them lead back from where it stands."""

import pytest

from pisces.errors import CheckpointError
from pisces.kernels.memory import MemoryCheckpoint
from pisces.sessions.checkpoints import MAX_AUTOMATIC, MAX_NAMED, Checkpoints, Kept
from pisces.sessions.variables import Names


def kept(position: int, name: str = "", *, resets: int = 0) -> Kept:
    checkpoint = MemoryCheckpoint({}, position, 0.0)
    return Kept(checkpoint=checkpoint, position=position, folder="/", names=Names({}), name=name, resets=resets)


def filled(*places: tuple[int, str], resident_mb: float = 0.0) -> tuple[Checkpoints, list[Kept]]:
    checkpoints, made = Checkpoints(4096), [kept(*place) for place in places]
    for one in made:
        checkpoints.add(one, resident_mb)
    return checkpoints, made


def positions(found: list[Kept]) -> list[int]:
    return [one.position for one in found]


def test_the_oldest_automatic_ones_go_first_and_named_ones_stay() -> None:
    checkpoints, made = filled((1, ""), (1, "first"), *((n, "") for n in range(2, 12)))
    assert positions(checkpoints.backwards()) == [*range(11, 11 - MAX_AUTOMATIC, -1), 1]
    assert positions(checkpoints.named) == [1]
    assert not made[0].checkpoint.usable, "what is given up is dropped"


def test_kernels_that_hold_much_have_fewer_automatic_ones_but_always_the_newest() -> None:
    assert positions(list(filled(*((n, "") for n in range(1, 6)), resident_mb=1024)[0])) == [2, 3, 4, 5]
    assert positions(list(filled((1, ""), (2, ""), resident_mb=4000)[0])) == [2]


def test_a_ninth_named_one_is_refused_with_the_way_out() -> None:
    checkpoints, _ = filled(*((n, f"n{n}") for n in range(MAX_NAMED)))
    with pytest.raises(CheckpointError, match="8 named checkpoints already") as refused:
        checkpoints.make_sure_of_room("one more")
    assert "drop: true" in refused.value.hint
    checkpoints.make_sure_of_room("n3")
    checkpoints.drop(checkpoints.find("n3"))
    checkpoints.make_sure_of_room("one more")


def test_a_name_that_is_used_again_replaces_the_old_one() -> None:
    checkpoints, (old, new) = filled((1, "a"), (2, "a"))
    assert checkpoints.find("a") is new
    assert (old.checkpoint.usable, len(checkpoints.named)) == (False, 1)


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    checkpoints, _ = filled((1, "a"), (2, "b"))
    with pytest.raises(CheckpointError, match=r"no checkpoint named 'c'\. Named checkpoints: 'a', 'b'"):
        checkpoints.find("c")


def test_going_back_gives_up_automatic_ones_that_lie_ahead_and_keeps_named_ones() -> None:
    checkpoints, made = filled((1, ""), (2, ""), (3, "later"), (3, ""))
    checkpoints.go_back_to(made[0])
    assert positions(list(checkpoints)) == [1, 3]
    assert checkpoints.backwards() == [made[0]], "what lies ahead does not lead back"


def test_a_named_one_of_another_way_does_not_lead_back_even_if_fewer_cells_made_it() -> None:
    checkpoints, made = filled((1, ""), (2, "aside"))
    checkpoints.go_back_to(made[0])
    checkpoints.add(kept(2), 0.0)
    checkpoints.add(kept(3), 0.0)
    assert [(one.position, one.name) for one in checkpoints.backwards()] == [(3, ""), (2, ""), (1, "")]


def test_going_to_a_named_one_of_another_way_takes_that_way_up_again() -> None:
    checkpoints, made = filled((1, ""), (2, "aside"))
    checkpoints.go_back_to(made[0])
    checkpoints.add(kept(2), 0.0)
    checkpoints.go_back_to(made[1])
    assert checkpoints.backwards() == [made[1], made[0]]
    assert positions(list(checkpoints)) == [1, 2]


def test_one_that_has_died_is_not_offered() -> None:
    checkpoints, made = filled((1, ""), (2, "a"))
    made[1].checkpoint.drop()
    assert (list(checkpoints), checkpoints.named, checkpoints.backwards()) == ([made[0]], [], [made[0]])


def test_at_the_start_again_only_named_ones_are_left() -> None:
    checkpoints, made = filled((1, ""), (2, "a"))
    checkpoints.go_back_to_start()
    assert (list(checkpoints), checkpoints.backwards()) == ([made[1]], [])


def test_what_a_reset_dropped_leads_nowhere_but_back_over_it_and_is_given_up_like_any_other() -> None:
    checkpoints, made = filled((1, ""), (2, ""))
    checkpoints.reset(made[1])
    assert (list(checkpoints), checkpoints.backwards(), checkpoints.before_reset) == ([made[1]], [], made[1])
    checkpoints.go_back_to_start()
    assert checkpoints.before_reset is made[1]
    for position in range(1, MAX_AUTOMATIC):
        checkpoints.add(kept(position, resets=1), 0.0)
    assert checkpoints.before_reset is made[1]
    checkpoints.add(kept(MAX_AUTOMATIC, resets=1), 0.0)
    assert checkpoints.before_reset is None


def test_what_a_large_kernel_held_before_a_reset_counts_beside_a_small_one() -> None:
    checkpoints, made = filled((1, ""), resident_mb=4000)
    checkpoints.reset(made[0])
    checkpoints.add(kept(1, resets=1), 50.0)
    assert checkpoints.before_reset is made[0]
    checkpoints.add(kept(2, resets=1), 50.0)
    assert checkpoints.before_reset is None


def test_everything_can_be_given_up() -> None:
    checkpoints, made = filled((1, ""), (2, "a"))
    checkpoints.drop_all()
    assert [one.checkpoint.usable for one in made] == [False, False]
    assert list(checkpoints) == []
