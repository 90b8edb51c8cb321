import pytest

from tests.unit.guest.recording import RecordedShell


def test_a_traceback_starts_at_the_cell(shell: RecordedShell) -> None:
    outcome = shell.error("def f():\n    return 1/0\n\nf()")
    lines = [line for line in outcome.traceback if set(line.strip()) - {"~", "^"}]
    assert lines == [
        "Traceback (most recent call last):",
        '  File "<cell 1>", line 4, in <module>',
        "    f()",
        '  File "<cell 1>", line 2, in f',
        "    return 1/0",
        "ZeroDivisionError: division by zero",
    ]
    assert (outcome.ename, outcome.evalue) == ("ZeroDivisionError", "division by zero")


def test_a_syntax_error_shows_the_line_and_no_frame_of_the_runner(shell: RecordedShell) -> None:
    shell.ok("1")
    outcome = shell.error("x = 1\ny = = 2")
    assert outcome.traceback[0] == '  File "<cell 2>", line 2'
    assert outcome.traceback[1] == "    y = = 2"
    assert outcome.traceback[2].strip() == "^"
    assert outcome.traceback[3:] == ["SyntaxError: invalid syntax"]


def test_a_syntax_error_after_joined_lines_has_the_number_of_its_line(shell: RecordedShell) -> None:
    assert shell.error("!true \\\n  x\ny = = 2").traceback[0] == '  File "<cell 1>", line 3'


def test_a_frame_of_an_earlier_cell_shows_its_own_line(shell: RecordedShell) -> None:
    shell.ok("def f():\n    1/0")
    traceback = shell.error("f()").traceback
    assert '  File "<cell 2>", line 1, in <module>' in traceback
    assert traceback[traceback.index('  File "<cell 1>", line 2, in f') + 1] == "    1/0"


def test_a_line_of_special_syntax_is_shown_as_it_was_written(shell: RecordedShell) -> None:
    outcome = shell.error("x = 1\n%cd nowhere")
    assert outcome.traceback == [
        "Traceback (most recent call last):",
        '  File "<cell 1>", line 2, in <module>',
        "    %cd nowhere",
        "FileNotFoundError: [Errno 2] No such file or directory: 'nowhere'",
    ]


def test_chained_errors_are_kept(shell: RecordedShell) -> None:
    text = "\n".join(shell.error("try:\n    1/0\nexcept Exception as e:\n    raise ValueError('x') from e").traceback)
    assert "ZeroDivisionError" in text
    assert "direct cause" in text
    assert text.count("<cell 1>") == 2


def test_an_error_while_handling_another_shows_both(shell: RecordedShell) -> None:
    text = "\n".join(shell.error("try:\n    1/0\nexcept Exception:\n    {}['k']").traceback)
    assert "ZeroDivisionError" in text
    assert "KeyError: 'k'" in text


@pytest.mark.parametrize(
    "cell",
    [
        "def f(): f()\nf()",
        "def f(): g()\ndef g(): f()\nf()",
        "class A:\n    def __repr__(self): return repr([self])\nrepr(A())",
    ],
)
def test_a_recursion_is_not_thousands_of_lines(shell: RecordedShell, cell: str) -> None:
    outcome = shell.error(cell)
    assert outcome.ename == "RecursionError"
    assert len(outcome.traceback) < 200


def test_an_error_without_a_text_still_has_a_traceback(shell: RecordedShell) -> None:
    outcome = shell.error("class E(Exception):\n    def __str__(self): raise ValueError\nraise E")
    assert outcome.ename == "E"
    assert "ValueError" in outcome.evalue
    assert '  File "<cell 1>", line 3, in <module>' in outcome.traceback


def test_an_error_that_cannot_be_looked_at_still_has_a_name(shell: RecordedShell) -> None:
    cell = "class E(Exception):\n    @property\n    def __cause__(self): raise ValueError\nraise E('x')"
    outcome = shell.error(cell)
    assert (outcome.ename, outcome.evalue) == ("E", "x")
    assert outcome.traceback


def test_an_unprintable_text_is_no_reason_to_fail(shell: RecordedShell) -> None:
    outcome = shell.error("raise ValueError('\\ud800')")
    assert outcome.evalue == "\ufffd"
    assert outcome.traceback[-1] == "ValueError: \ufffd"


def test_every_error_of_a_group_starts_at_the_cell(shell: RecordedShell) -> None:
    cell = "try:\n    1/0\nexcept Exception as e:\n    raise ExceptionGroup('both', [e, ValueError('v')])"
    text = "\n".join(shell.error(cell).traceback)
    assert "ZeroDivisionError" in text
    assert "ValueError: v" in text
    assert "builtin_shell" not in text
