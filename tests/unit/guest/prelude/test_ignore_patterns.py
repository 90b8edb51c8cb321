"""One rule matches what git has it match, whatever else there is."""

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.guest.prelude.ignore_rules import Rules
from tests.unit.guest.prelude.ignored_trees import PATHS, make_repository, matched_by_git, patterns

pytestmark = pytest.mark.processes

CLASSES = ["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"]


@st.composite
def questions(draw: st.DrawFn) -> tuple[list[bytes], list[bytes]]:
    paths = draw(st.lists(PATHS, min_size=5, max_size=15, unique=True))
    asked = draw(st.lists(patterns(paths).filter(is_whole_line), min_size=20, max_size=60, unique=True))
    return asked, [*paths, *(path + b"/" for path in paths)]


def is_whole_line(pattern: bytes) -> bool:
    """Whether a line of an ignore file would have the same pattern; that of attributes is quoted, and knows no `!`."""
    return not pattern.startswith((b"!", b"#")) and not pattern.endswith((b" ", b"\r")) and b"\n" not in pattern


def matched_by_us(patterns: list[bytes], paths: list[bytes]) -> set[tuple[bytes, bytes]]:
    matched = set()
    for pattern in patterns:
        rules = Rules(pattern + b"\n")
        for path in paths:
            folder, name = os.path.split(path.decode("latin-1").removesuffix("/"))
            kind = rules.folders if path.endswith(b"/") else rules.files
            if kind.within(os.path.join(folder, ""))(name) >= 0:
                matched.add((pattern, path))
    return matched


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return make_repository(tmp_path_factory.mktemp("repository"))


@settings(max_examples=50)
@given(question=questions())
def test_any_pattern_matches_what_git_has_it_match(
    repository: bytes, question: tuple[list[bytes], list[bytes]]
) -> None:
    assert matched_by_us(*question) == matched_by_git(repository, *question)


def test_every_class_has_the_bytes_that_git_gives_it(repository: bytes) -> None:
    asked = [f"x[{kind}[:{name}:]]y".encode() for name in CLASSES for kind in ("", "!", "_", "!0-9")]
    paths = [b"x%cy" % byte for byte in range(1, 256) if byte != ord("/")]
    assert matched_by_us(asked, paths) == matched_by_git(repository, asked, paths)


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        (b"a", [b"a", b"x/a", b"a/"], [b"ab", b"a/b"]),
        (b"a/", [b"a/", b"x/a/"], [b"a"]),
        (b"/a", [b"a", b"a/"], [b"x/a"]),
        (b"a/b", [b"a/b"], [b"x/a/b", b"a/b/c"]),
        (b"**/a", [b"a", b"x/a", b"x/y/a"], [b"xa"]),
        (b"a/**", [b"a/b", b"a/b/c"], [b"a", b"xa/b"]),
        (b"a/**/b", [b"a/b", b"a/x/b", b"a/x/y/b"], [b"ab", b"a/xb"]),
        (b"a/**\\/b", [b"a/x/b"], [b"a/b"]),
        (b"/foo**/bar", [b"foobar", b"foox/bar", b"foo/x/bar"], [b"foo/xbar"]),
        (b"x/a**b", [b"x/ab", b"x/a.b"], [b"x/a/b"]),
        (b"x/?", [b"x/a"], [b"x//", b"x/ab", b"x/a/b"]),
        (b"x?y/z", [b"xay/z"], [b"x/y/z"]),
        (b"??", [b"ab", "é".encode()], [b"a"]),
        (b"[a-c-e]", [b"b", b"-", b"e"], [b"d"]),
        (b"[]-a]", [b"]", b"^", b"a"], [b"b"]),
        (b"[!]]", [b"a"], [b"]"]),
        (b"a[!b]c/d", [b"axc/d"], [b"a/c/d", b"abc/d"]),
        (b"[c-a]", [b"c"], [b"a", b"b", b"-"]),
        (b"\\a\\*", [b"a*"], [b"ab", b"\\a*"]),
        (b"a\\", [], [b"a", b"a\\"]),
        (b"[a", [], [b"a", b"[a"]),
        (b"a//", [], [b"a", b"a/"]),
        (b"/", [], [b"a", b"a/"]),
        (b"**", [b"a", b"a/b", b".x"], []),
        (b"/*", [b"a", b".x"], [b"a/b"]),
    ],
    ids=repr,
)
def test_a_pattern_matches_these(repository: bytes, pattern: bytes, matching: list[bytes], others: list[bytes]) -> None:
    paths = [path for path in (*matching, *others) if b"//" not in path]
    assert matched_by_us([pattern], [*matching, *others]) == {(pattern, path) for path in matching}
    assert matched_by_git(repository, [pattern], paths) == {(pattern, path) for path in matching}


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        (b"*a" * 30 + b"b", b"a" * 250),
        (b"/x" + b"*a" * 30 + b"b", b"x" + b"a" * 250),
        (b"**/a/" * 20 + b"b", b"a/" * 1000 + b"c"),
        (b"x/" + b"**/*a*/" * 20 + b"b", b"x/" + b"aa/" * 1000 + b"c"),
        (b"?*" * 100 + b"b", b"a" * 250),
    ],
    ids=["stars", "stars in a path", "folders", "stars in folders", "at least"],
)
def test_a_pattern_made_to_take_for_ever_does_not(pattern: bytes, path: bytes) -> None:
    """It would be years; the limit of all tests ends it."""
    assert matched_by_us([pattern], [path]) == set()
