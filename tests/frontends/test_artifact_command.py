"""`pisces artifact`: whole outputs, parts of them, and what is in them."""

import re

import pytest

from tests.frontends.command import Command


@pytest.fixture
def kept(pisces: Command) -> Command:
    """The command, after a run whose output was cut."""
    assert pisces("run", "--no-stream", "-c", "for n in range(1, 10_001): print('line', n)").returncode == 0
    return pisces


@pytest.mark.parametrize(
    ("arguments", "first", "last"),
    [
        (["1"], 1, 10_000),
        (["artifact://1"], 1, 10_000),
        (["1", "100-200"], 100, 200),
        (["artifact://1:100-200"], 100, 200),
        (["1", "9990-"], 9_990, 10_000),
        (["1", "7"], 7, 7),
        (["1", "9990-20000"], 9_990, 10_000),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_lines_are_printed_as_they_were(kept: Command, arguments: list[str], first: int, last: int) -> None:
    done = kept("artifact", *arguments)
    assert done.stdout == "".join(f"line {n}\n" for n in range(first, last + 1))
    assert (done.stderr, done.returncode) == ("", 0)


def test_a_search_prints_numbers_and_lines(kept: Command) -> None:
    assert kept("artifact", "1", "--grep", r"^line 1?234$").stdout == "234:line 234\n1234:line 1234\n"
    assert kept("artifact", "1", "1-500", "--grep", r"234$").stdout == "234:line 234\n"


def test_a_search_that_finds_nothing_exits_with_1(kept: Command) -> None:
    done = kept("artifact", "1", "--grep", "no such text")
    assert (done.stdout, done.returncode) == ("", 1)
    assert "No line of artifact 1 matches 'no such text'." in done.stderr


def test_a_bad_pattern_is_bad_use(kept: Command) -> None:
    done = kept("artifact", "1", "--grep", "(")
    assert done.returncode == 2
    assert "Not a regular expression: '('" in done.stderr


def test_lines_past_the_end_and_missing_ids_say_what_there_is(kept: Command) -> None:
    past = kept("artifact", "1", "10001")
    assert past.returncode == 1
    assert "has 10000 lines; line 10001 is past its end" in past.stderr
    missing = kept("artifact", "77")
    assert missing.returncode == 1
    assert "Artifact 77 not found. Available: 1" in missing.stderr


def test_an_output_that_was_too_large_is_printed_with_the_true_numbers(pisces: Command) -> None:
    code = "for n in range(1, 400_001): print('line', n)"
    done = pisces("run", "--no-stream", "-c", code, variables={"PI_SET__output__artifactLimitMb": "1"})
    found = re.search(
        r"all but lines (\d+)-(\d+) \(1 MiB limit, `output\.artifactLimitMb`\)\]", done.stdout + done.stderr
    )
    assert found is not None
    first, last = int(found[1]), int(found[2])
    note = f"[…lines {first}-{last} are missing: the output was too large to be kept whole…]\n"
    both = pisces("artifact", "1")
    assert both.stdout == "".join(f"line {n}\n" for n in (*range(1, first), *range(last + 1, 400_001)))
    assert both.stderr == note
    assert pisces("artifact", "1", "399999-").stdout == "line 399999\nline 400000\n"
    missing = pisces("artifact", "1", f"{first + 5}-{last - 5}")
    assert (missing.returncode, missing.stdout) == (1, "")
    assert f"lines {first}-{last} are missing" in missing.stderr
    found_by_search = pisces("artifact", "1", "--grep", "^line (5|399999)$")
    assert (found_by_search.stdout, found_by_search.stderr) == ("5:line 5\n399999:line 399999\n", note)
    assert re.match(r" +1 +\d+(\.\d)? KiB ", pisces("artifact", "--list").stdout)


def test_the_list_has_each_with_its_size(pisces: Command) -> None:
    assert "There are no artifacts" in pisces("artifact", "--list").stderr
    for _ in range(2):
        pisces("run", "--no-stream", "-c", "print('x\\n' * 9_000)")
    listed = pisces("artifact", "--list").stdout.splitlines()
    assert [line.split()[0] for line in listed] == ["2", "1"]
    assert all("KiB" in line and "python.log" in line for line in listed)
