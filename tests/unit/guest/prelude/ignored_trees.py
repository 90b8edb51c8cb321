"""Generated trees and ignore files, and what git says about them."""

import os
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from hypothesis import strategies as st

_BYTES = [b"a", b"b", b"c", b"A", b"0", b".", b"-", b"^", b"!", b"#", b":", b"*", b"?", b"[", b"]", b"\\", b" ", b"~"]
_ODD_BYTES = ["é".encode(), b"\xff", b"\x80", b"\t", b"\r", b"\n", b"\x0b"]
NAMES = st.one_of(
    st.sampled_from([b"a", b"b", b"ab", b"foo", b"foobar", b"bar", b"a.py", b"b.pyc", b".env", b"build", b"A"]),
    st.lists(st.sampled_from(_BYTES + _ODD_BYTES), min_size=1, max_size=4).map(b"".join),
).filter(lambda name: name not in {b".", b"..", b".git", b".gitignore"})
PATHS = st.lists(NAMES, min_size=1, max_size=5).map(b"/".join)
_SPECIAL = [b"*", b"**", b"***", b"?", b"\\", b"\\*", b"\\/", b" ", b"\\ ", b"#", b"!", b"\\#", b"\\!", b"\t", b"\r"]
_SPECIAL += [b"[ab]", b"[!a-c]", b"[^a]", b"[]a]", b"[!]a]", b"[z-a]", b"[a-]", b"[-a]", b"[a-c-e]", b"[--0]", b"[a"]
_SPECIAL += [b"[\\]]", b"[a-\\c]", b"[/]", b"[]", b"[\x80-\xff]"]
_SPECIAL += [b"[[:alpha:]]", b"[[:bad:]]", b"[[:alpha:", b"[[:]", b"[[:a]"]


@st.composite
def patterns(draw: st.DrawFn, paths: Sequence[bytes]) -> bytes:
    """A pattern that is likely to match one of the paths, or nearly."""
    parts = draw(st.sampled_from(paths)).split(b"/")
    kept = parts[draw(st.integers(0, len(parts) - 1)) :][: draw(st.integers(1, 5))]
    joints = st.sampled_from([b"/", b"/", b"/", b"/**/", b"/*/", b"**/", b"/**", b"\\/", b"//", b"/**/**/", b"*"])
    written = draw(st.sampled_from([b"", b"", b"", b"/", b"**/", b"*/", b"/**/"]))
    for number, part in enumerate(kept):
        written += (draw(joints) if number else b"") + draw(_loosely(part))
    return written + draw(st.sampled_from([b"", b"", b"", b"/", b"/**", b"/*", b"**", b"\\"]))


@st.composite
def _loosely(draw: st.DrawFn, name: bytes) -> bytes:
    """A pattern for a name: as it is, each special character escaped, or with something else for a part of it."""
    how = draw(st.sampled_from(["plain", "escaped", "escaped", "star", "piece", "piece", "class"]))
    start = draw(st.integers(0, len(name)))
    end = draw(st.integers(start, min(start + 2, len(name))))
    if how == "plain":
        return name
    if how == "star":
        return _escaped(name[:start]) + b"*" + _escaped(name[end:])
    if how == "piece":
        return _escaped(name[:start]) + draw(st.sampled_from(_SPECIAL)) + _escaped(name[end:])
    if how == "class" and start < len(name):
        return _escaped(name[:start]) + b"[" + draw(_members(name[start])) + b"]" + _escaped(name[start + 1 :])
    return _escaped(name)


@st.composite
def _members(draw: st.DrawFn, byte: int) -> bytes:
    one = bytes([byte])
    low, high = bytes([max(byte - 1, 1)]), bytes([min(byte + 1, 255)])
    around = [one, b"x" + one, low + b"-" + high, b"\\" + one, b"!" + one, b"^" + low, b"[:print:]", b"![:alnum:]"]
    return draw(st.sampled_from([*around, low + b"-\\" + high, b"]" + one, b"[:punct:]" + one, one + b"-", b"-" + one]))


def _escaped(name: bytes) -> bytes:
    for special in (b"\\", b"*", b"?", b"["):
        name = name.replace(special, b"\\" + special)
    return name


@st.composite
def trees(draw: st.DrawFn) -> dict[bytes, bytes]:
    """Files with what is in them; some of them ignore files, in any folder."""
    paths = draw(st.lists(PATHS, min_size=2, max_size=12))
    rules = st.builds(
        bytes.__add__, st.sampled_from([b"", b"", b"!"]), patterns(paths) | st.sampled_from([b"*", b"#a"])
    )
    ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b" \n", b"\\ \n", b"\0x\n", b"\t\n", b""])
    contents = st.builds(
        lambda mark, lines: mark + b"".join(lines),
        st.sampled_from([b"", b"", b"", b"\xef\xbb\xbf", b"\n", b"\r\n", b"#\n"]),
        st.lists(st.builds(bytes.__add__, rules, ends), min_size=1, max_size=6),
    )
    folders = draw(st.lists(st.sampled_from(paths).map(os.path.dirname) | st.just(b""), max_size=3))
    return dict.fromkeys(paths, b"") | {os.path.join(folder, b".gitignore"): draw(contents) for folder in folders}


def make_repository(root: Path) -> bytes:
    """What git takes for a repository, without starting it."""
    for folder in ("objects", "refs", "info"):
        (root / ".git" / folder).mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n", encoding="utf-8")
    return os.fsencode(root)


def plant(root: bytes, files: Mapping[bytes, bytes]) -> None:
    """Make files, as far as no other is in the way."""
    for path, content in sorted(files.items()):
        place = os.path.join(root, path)
        try:
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(content)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            continue


def everything(root: bytes) -> list[bytes]:
    """All that is below a folder, but for git's own."""
    found = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != b".git"]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in (*folders, *files) if name != b".git"]
    return found


def git(root: bytes, *arguments: str | bytes, given: bytes = b"") -> list[bytes]:
    """What git answers, split at NUL bytes."""
    done = subprocess.run(["git", *arguments], cwd=root, input=given, capture_output=True, check=False)
    assert done.returncode in {0, 1}, done.stderr
    return done.stdout.split(b"\0")[:-1]


def seen_by_git(root: bytes, paths: Iterable[bytes]) -> set[bytes]:
    """Those that git does not leave out."""
    question = b"".join(path + b"\0" for path in paths)
    fields = git(root, "check-ignore", "--no-index", "--stdin", "-z", "-v", "-n", given=question)
    answers = zip(fields[2::4], fields[3::4], strict=True)
    return {path for rule, path in answers if not rule or rule.startswith(b"!")}


def matched_by_git(root: bytes, patterns: Sequence[bytes], paths: Sequence[bytes]) -> set[tuple[bytes, bytes]]:
    """Which pattern matches which path, whatever is there: git's attributes have the patterns of its ignore files.

    A path with a slash at its end is that of a folder.
    """
    quoted = ("".join(f"\\{byte:03o}" for byte in pattern) for pattern in patterns)
    lines = [f'"{text}" is{number}\n' for number, text in enumerate(quoted)]
    with open(os.path.join(root, b".git/info/attributes"), "w", encoding="ascii") as file:
        file.writelines(lines)
    fields = git(root, "check-attr", "--stdin", "-z", "-a", given=b"".join(path + b"\0" for path in paths))
    answers = zip(fields[0::3], fields[1::3], strict=True)
    return {(patterns[int(attribute[2:])], path) for path, attribute in answers}
