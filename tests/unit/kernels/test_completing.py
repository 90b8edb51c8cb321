"""How much of the code a kernel is shown, and what is made of its answer."""

from hypothesis import given
from hypothesis import strategies as st

from pisces.kernels.completing import Question, among
from pisces.model.completion import Completion

TEXTS = st.text(st.sampled_from("ab_.\n \N{SNAKE}\ud800'("), max_size=60)


def applied(code: str, found: Completion) -> set[str]:
    return {code[: found.start] + match + code[found.end :] for match in found.matches}


@given(TEXTS, st.integers(-5, 100), st.lists(TEXTS, max_size=5), st.integers(-5, 100), st.integers(-5, 100))
def test_whatever_a_kernel_says_the_answer_is_in_the_code_and_around_the_cursor(
    code: str, cursor: int, matches: list[str], start: int, end: int
) -> None:
    found = Question.about(code, cursor).answer(matches, start, end)
    assert found == Completion() or 0 <= found.start <= min(max(cursor, 0), len(code)) <= found.end <= len(code)
    assert all(match.isprintable() and match for match in found.matches)


@given(TEXTS, st.integers(-5, 100))
def test_what_a_kernel_is_shown_is_text_of_the_same_length(code: str, cursor: int) -> None:
    question = Question.about(code, cursor)
    assert len(question.code) == len(code)
    question.code.encode("utf-8")


def test_of_a_long_cell_the_part_around_the_cursor_is_shown_and_places_are_those_of_the_whole() -> None:
    code = "line\n" * 100_000 + "zebra_c" + "\nline" * 100_000
    cursor = 500_007
    question = Question.about(code, cursor)
    assert len(question.code) < 25_000
    assert question.code.startswith("line\n")
    found = question.answer(["zebra_count"], question.cursor - 7, question.cursor)
    assert (found.start, found.end) == (500_000, 500_007)


def test_what_stands_before_a_dot_is_not_said_again() -> None:
    for matches, start in ((["a.b.cat", "a.b.cow"], 4), ([".cat", ".cow"], 7), (["cat", "cow"], 8)):
        found = Question.about("x + a.b.c", 9).answer(matches, start, 9)
        assert (found.matches, found.start, found.end) == (("cat", "cow"), 8, 9), matches


def test_names_of_files_are_told_whole() -> None:
    assert Question.about("open('data.c", 12).answer(["data.csv"], 6, 12).matches == ("data.csv",)
    assert Question.about("!cat ./da", 9).answer(["./data"], 5, 9).matches == ("./data",)


def test_magics_are_told_only_where_one_is_begun() -> None:
    assert Question.about("ti", 2).answer(["%time", "time"], 0, 2).matches == ("time",)
    assert Question.about("%ti", 3).answer(["%time"], 0, 3).matches == ("%time",)


def test_where_nothing_is_begun_what_a_function_takes_by_name_is_told() -> None:
    assert Question.about("f(", 2).answer(["first=", "A", "B"], 2, 2).matches == ("first=",)
    assert Question.about("a.", 2).answer(["x", "y"], 2, 2).matches == ("x", "y")


def test_nonsense_is_no_answer() -> None:
    question = Question.about("abc", 2)
    for matches, start, end in ((None, 0, 2), (["abc"], None, 2), (["abc"], 0, "2"), (["abc"], 3, 2), (["abc"], 0, 9)):
        assert question.answer(matches, start, end) == Completion()
    assert question.answer(["abc", 5, None, "", "a\nb", "x" * 5000, "abc"], 0, 2).matches == ("abc",)
    assert len(question.answer([f"a{n}" for n in range(5000)], 0, 2).matches) == 200


def test_names_that_are_known_are_told_by_their_beginning() -> None:
    names = {"zebra", "zoo", "_z", "apple"}
    assert applied("1 + z", among(names, "1 + z", 5)) == {"1 + zebra", "1 + zoo"}
    assert among(names, "_", 1).matches == ("_z",)
    for nothing in ("", "x.z", "5z", "z "):
        assert among(names, nothing, len(nothing)) == Completion()
