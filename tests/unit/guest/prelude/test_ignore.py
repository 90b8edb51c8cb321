"""What ignore files leave out is what git leaves out: the same trees, seen by both."""

import itertools
import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pisces.guest.prelude import names
from tests.unit.guest.prelude.ignored_trees import everything, git, make_repository, plant, seen_by_git, trees

pytestmark = pytest.mark.processes


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without settings of git."""
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    return home


@pytest.fixture
def root(tmp_path: Path) -> bytes:
    """A repository with nothing in it."""
    return make_repository(tmp_path / "repository")


def seen(root: bytes, folder: bytes = b"") -> set[bytes]:
    """All that `find` sees below a folder, hidden or not."""
    found = names.find("*", os.fsdecode(os.path.join(root, folder)), type="any", hidden=True, limit=10**6)
    return {os.path.relpath(os.fsencode(path), root) for path in found}


def write(root: bytes, path: str, *lines: str) -> None:
    place = Path(os.fsdecode(root), path)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@settings(max_examples=25)
@given(cases=st.lists(trees(), min_size=2, max_size=12))
def test_any_tree_is_seen_as_git_sees_it(
    tmp_path_factory: pytest.TempPathFactory, cases: list[dict[bytes, bytes]]
) -> None:
    root = make_repository(tmp_path_factory.mktemp("repository"))
    for number, files in enumerate(cases):
        plant(root, {b"case%d/%s" % (number, path): content for path, content in files.items()})
    assert seen(root) == seen_by_git(root, everything(root))


@settings(max_examples=20)
@given(tree=trees(), info=trees(), users=trees())
def test_the_files_of_any_repository_are_those_that_git_would_add(
    tmp_path_factory: pytest.TempPathFactory,
    tree: dict[bytes, bytes],
    info: dict[bytes, bytes],
    users: dict[bytes, bytes],
) -> None:
    """With rules in the repository's own file and in the user's too: any content will do for those."""
    root = make_repository(tmp_path_factory.mktemp("repository"))
    plant(root, tree)
    plant(root, {b".git/info/exclude": b"".join(info.values())})
    plant(os.fsencode(os.environ["HOME"]), {b".config/git/ignore": b"".join(users.values())})
    expected = set(git(root, "ls-files", "-z", "--others", "--exclude-standard"))
    assert {path for path in seen(root) if not os.path.isdir(os.path.join(root, path))} == expected


def test_rules_end_where_git_says(root: bytes) -> None:
    write(root, ".gitignore", "# no rule", "", "a  ", "b\\ ", "c\t", "\\#d", "\\!e", "#f", "g\r", "   ", "h i")
    for name in ("a", "a  ", "b", "b ", "c", "c\t", "#d", "!e", "#f", "g", "g\r", "h", "h i", "   "):
        write(root, name)
    assert seen(root) == {b".gitignore", b"a  ", b"b", b"c", b"#f", b"g\r", b"h", b"   "}
    assert seen(root) == seen_by_git(root, everything(root))


def test_the_last_rule_that_matches_counts_whatever_kind_it_is(root: bytes) -> None:
    kinds = ["x.log", "*.log", "x.*", "*x*g", "/x.log", "/x.*", "**/x.log"]
    for number, (first, last) in enumerate(itertools.product(kinds, repeat=2)):
        for case, rules in {"in": (first, f"!{last}"), "out": (f"!{first}", last)}.items():
            write(root, f"{case}{number}/.gitignore", "*.other", *rules, "unlike")
            write(root, f"{case}{number}/x.log")
    shown = seen(root)
    assert {os.path.dirname(path)[:2] for path in shown if path.endswith(b"x.log")} == {b"in"}
    assert shown == seen_by_git(root, everything(root))


def test_a_file_is_not_taken_in_again_when_its_folder_is_left_out(root: bytes) -> None:
    write(root, ".gitignore", "out/", "!out/kept", "half/*", "!half/kept")
    for name in ("out/kept", "half/kept", "half/gone"):
        write(root, name)
    assert seen(root) == {b".gitignore", b"half", b"half/kept"}
    assert seen(root) == seen_by_git(root, everything(root))


def test_inner_rules_win_over_outer_ones_and_those_over_the_repositorys_and_the_users(root: bytes, home: Path) -> None:
    write(root, ".gitignore", "*.a", "!*.b")
    write(root, "sub/.gitignore", "!*.a", "*.b")
    write(root, ".git/info/exclude", "*.b", "*.c", "!*.d")
    write(os.fsencode(home), ".config/git/ignore", "*.d", "*.e")
    for name in "abcdef":
        write(root, f"x.{name}")
        write(root, f"sub/x.{name}")
    assert seen(root) >= {b"x.b", b"x.d", b"x.f", b"sub/x.a", b"sub/x.d", b"sub/x.f"}
    assert seen(root) == seen_by_git(root, everything(root))


def test_the_users_rules_are_where_the_environment_says(
    root: bytes, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(root, "x")
    write(os.fsencode(home), "settings/git/ignore", "x")
    assert seen(root) == {b"x"}
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / "settings"))
    assert seen(root) == set() == seen_by_git(root, [b"x"])
    monkeypatch.delenv("HOME")
    monkeypatch.delenv("XDG_CONFIG_HOME")
    assert seen(root) == {b"x"}


def test_the_rules_of_folders_above_count_up_to_the_root_of_the_repository(tmp_path: Path, root: bytes) -> None:
    (tmp_path / ".gitignore").write_text("*\n", encoding="utf-8")
    write(root, ".gitignore", "*.log", "/a/b/one", "one")
    write(root, "a/.gitignore", "b/two")
    for name in ("one", "two", "three", "x.log"):
        write(root, f"a/b/{name}")
    assert seen(root, b"a/b") == {b"a/b/three"}
    assert seen(root, b"a/b") == seen_by_git(root, [path for path in everything(root) if path.startswith(b"a/b/")])


def test_a_folder_that_is_left_out_is_searched_when_it_is_asked_for(root: bytes) -> None:
    write(root, ".gitignore", "build/", "*.log")
    write(root, "build/.gitignore", "no")
    for name in ("yes", "no", "x.log", "deep/yes"):
        write(root, f"build/{name}")
    assert seen(root) == {b".gitignore"}
    expected = {b"build/.gitignore", b"build/yes", b"build/x.log", b"build/deep", b"build/deep/yes"}
    assert seen(root, b"build") == expected
    assert seen(root, b"build/deep") == {b"build/deep/yes"}


def test_rules_below_the_folder_count_outside_of_any_repository(tmp_path: Path) -> None:
    root = os.fsencode(tmp_path / "outside")
    write(root, ".gitignore", "*.a", "/b")
    write(root, "sub/.gitignore", "!x.a")
    for name in ("x.a", "y.a", "b", "sub/x.a", "sub/y.a", "sub/b"):
        write(root, name)
    assert seen(root) == {b".gitignore", b"sub", b"sub/.gitignore", b"sub/x.a", b"sub/b"}
    assert seen(root, b"sub") == {b"sub/.gitignore", b"sub/x.a", b"sub/y.a", b"sub/b"}


def test_a_repository_in_another_has_rules_of_its_own(root: bytes) -> None:
    write(root, ".gitignore", "*.a")
    inner = make_repository(Path(os.fsdecode(root), "inner"))
    write(inner, ".git/info/exclude", "*.b")
    for name in ("x.a", "x.b"):
        write(root, name)
        write(inner, name)
    assert seen(root) == {b".gitignore", b"inner", b"inner/x.a", b"x.b"}
    assert {os.path.relpath(os.path.join(root, path), inner) for path in seen(root, b"inner")} == seen_by_git(
        inner, everything(inner)
    )


def test_a_second_working_tree_has_the_rules_of_its_repository(tmp_path: Path) -> None:
    main, second = tmp_path / "main", tmp_path / "second"
    author = ["-c", "user.name=x", "-c", "user.email=x@example.com"]
    for command in (
        ["init", "-q", str(main)],
        ["-C", str(main), *author, "commit", "-q", "--allow-empty", "-m", "x"],
        ["-C", str(main), "worktree", "add", "-q", str(second)],
    ):
        subprocess.run(["git", *command], check=True, capture_output=True)
    write(os.fsencode(main), ".git/info/exclude", "out")
    for name in ("out", "in"):
        write(os.fsencode(second), name)
    assert seen(os.fsencode(second)) == {b"in"} == seen_by_git(os.fsencode(second), [b"in", b"out"])


def test_a_link_to_a_folder_is_no_folder_and_one_to_rules_has_none(root: bytes) -> None:
    write(root, "rules", "real", "link/", "target/")
    write(root, "sub/target/x")
    os.symlink(b"sub/target", os.path.join(root, b"link"))
    os.symlink(b"../rules", os.path.join(root, b"sub/.gitignore"))
    write(root, ".gitignore", "link/")
    assert seen(root) == {b".gitignore", b"rules", b"link", b"sub", b"sub/.gitignore", b"sub/target", b"sub/target/x"}
    assert seen(root) == seen_by_git(root, everything(root))


def test_git_s_own_folder_is_never_entered(root: bytes) -> None:
    write(root, ".gitignore", "!.git")
    assert seen(root) == {b".gitignore"}
    assert names.find("HEAD", os.fsdecode(root), hidden=True) == []


def test_rules_that_are_no_plain_file_are_none(root: bytes) -> None:
    os.mkdir(os.path.join(root, b".gitignore"))
    os.makedirs(os.path.join(root, b"sub"))
    os.mkfifo(os.path.join(root, b"sub", b".gitignore"))
    write(root, "sub/x")
    assert seen(root) == {b".gitignore", b"sub", b"sub/.gitignore", b"sub/x"}
