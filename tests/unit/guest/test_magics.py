import os
import sys
from pathlib import Path

import pytest

from tests.unit.guest.recording import RecordedShell


def test_an_unknown_line_magic_names_the_nearest(shell: RecordedShell) -> None:
    outcome = shell.error("%tiem 1")
    assert outcome.ename == "UsageError"
    assert outcome.traceback == ["UsageError: Line magic function `%tiem` not found. Did you mean `%time`?"]


def test_an_unknown_cell_magic_names_those_there_are(shell: RecordedShell) -> None:
    message = shell.error("%%nothing_like_it\nx").evalue
    assert message.startswith("Cell magic `%%nothing_like_it` not found. Known are: %%bash ")


def test_a_cell_magic_on_a_later_line_is_told_where_it_belongs(shell: RecordedShell) -> None:
    assert "first line" in shell.error("x = 1\n%%bash\nls").evalue


def test_cd_goes_there_and_back(shell: RecordedShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a b").mkdir()
    shell.ok("%cd 'a b'")
    assert Path.cwd() == tmp_path / "a b"
    shell.ok("%cd -")
    assert Path.cwd() == tmp_path
    assert capsys.readouterr().out == f"{tmp_path / 'a b'}\n{tmp_path}\n"


def test_cd_takes_variables_and_the_home(shell: RecordedShell, tmp_path: Path, own_home: Path) -> None:
    (tmp_path / "sub").mkdir()
    shell.ok("where = 'sub'\n%cd -q {where}")
    assert Path.cwd() == tmp_path / "sub"
    shell.ok("%cd")
    assert Path.cwd() == own_home


def test_cd_to_nowhere_is_an_error(shell: RecordedShell, tmp_path: Path) -> None:
    assert shell.error("%cd nowhere").ename == "FileNotFoundError"
    assert shell.error("%cd -").ename == "UsageError"
    assert Path.cwd() == tmp_path


def test_pwd_is_a_value(shell: RecordedShell, tmp_path: Path) -> None:
    shell.ok("here = %pwd")
    assert shell.namespace["here"] == str(tmp_path)


def test_ls_lists_files(shell: RecordedShell, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.txt").touch()
    (tmp_path / "two").mkdir()
    shell.ok("%ls")
    assert capfd.readouterr().out.split() == ["one.txt", "two/"]


def test_env_shows_and_sets_variables(
    shell: RecordedShell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FRUIT", "apple")
    assert shell.ok("%env FRUIT") == "'apple'"
    shell.ok("kind = 'pear'\n%env FRUIT={kind} tree")
    assert os.environ["FRUIT"] == "pear tree"
    shell.ok("%env FRUIT plum")
    assert os.environ["FRUIT"] == "plum"
    assert capsys.readouterr().out == "env: FRUIT=pear tree\nenv: FRUIT=plum\n"
    assert shell.error("%env NO_SUCH_VARIABLE").evalue == "Environment does not have key: NO_SUCH_VARIABLE"


def test_env_hides_secrets_in_its_list(shell: RecordedShell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "s3cret")
    listing = shell.ok("%env")
    assert listing is not None
    assert "'SOME_API_KEY': '<hidden>'" in listing
    assert "s3cret" not in listing


def test_time_tells_how_long_and_gives_the_value(shell: RecordedShell, capsys: pytest.CaptureFixture[str]) -> None:
    assert shell.ok("%time sum(range(10))") == "45"
    assert shell.ok("%time sum(range(10));") is None
    assert shell.ok("%%time\nx = 1\nx + 1") == "2"
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == ["CPU times", "Wall time"] * 3


def test_time_of_code_that_fails_shows_its_line(shell: RecordedShell, capsys: pytest.CaptureFixture[str]) -> None:
    traceback = shell.error("%%time\nx = 1\n1/0").traceback
    assert '  File "<cell 1 timed>", line 2, in <module>' in traceback
    assert "Wall time" in capsys.readouterr().out


def test_timeit_reports_and_returns(shell: RecordedShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.ok("x = 2\n%timeit -n 3 -r2 x + 1")
    assert "(mean ± std. dev. of 2 runs, 3 loops each)" in capsys.readouterr().out
    shell.ok("result = %timeit -n 3 -r 2 -q -o x + 1")
    result = shell.namespace["result"]
    assert (result.loops, result.repeat, len(result.all_runs)) == (3, 2, 2)
    shell.ok("%%timeit -q -n 1 -r 1 y = []\ny.append(x)\ny.append(x)")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    "cell", ["%timeit", "%timeit -n x 1", "%timeit -n 0 1", "%timeit -z 1", "%time", "%%time x\n1"]
)
def test_a_wrong_measurement_is_a_usage_error(shell: RecordedShell, cell: str) -> None:
    assert shell.error(cell).ename == "UsageError"


def test_who_lists_only_what_the_user_made(shell: RecordedShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.ok("%who")
    shell.ok("number = 1\ntext = 'a'\n_hidden = 2")
    shell.ok("%who")
    shell.ok("%who str")
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["Interactive", "namespace", "is", "empty."], ["number", "text"], ["text"]]


def test_whos_tells_types_and_sizes(shell: RecordedShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.ok("import math\nlong = 'x' * 10**6\nmany = list(range(10**6))")
    shell.ok("class Bad:\n    def __str__(self): 1/0\nbad = Bad()")
    shell.ok("%whos")
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()[2:]}
    assert rows["many"].split()[1:] == ["list", "n=1000000"]
    assert rows["long"].endswith("x…")
    assert len(rows["long"]) < 120
    assert "ZeroDivisionError" in rows["bad"]
    assert "module 'math'" in rows["math"]


def test_whos_sorts_values_that_cannot_be_compared(shell: RecordedShell) -> None:
    shell.ok("b = object()\na = {}\n%whos")


def test_run_gives_a_script_its_own_namespace_and_keeps_its_names(
    shell: RecordedShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "import sys\nprint(__name__, sys.argv, 'mine' in globals())\nfound = sys.path[0]\n"
    (tmp_path / "script.py").write_text(code, encoding="utf-8")
    main, argv, path = sys.modules["__main__"], sys.argv, list(sys.path)
    shell.ok("mine = 1\n%run script.py one 'two three'")
    assert capsys.readouterr().out == "__main__ ['script.py', 'one', 'two three'] False\n"
    assert shell.namespace["found"] == str(tmp_path)
    assert (sys.modules["__main__"], sys.argv, sys.path) == (main, argv, path)


def test_run_in_the_users_namespace(shell: RecordedShell, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("mine += 1\n", encoding="utf-8")
    shell.ok("mine = 1\n%run -i script")
    assert shell.namespace["mine"] == 2


def test_run_shows_the_frames_of_the_script_and_none_of_ours(shell: RecordedShell, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("x = 5\ndef f():\n    1/0\nf()\n", encoding="utf-8")
    traceback = shell.error("%run script.py").traceback
    assert [line.strip() for line in traceback if line.startswith("  File")] == [
        'File "<cell 1>", line 1, in <module>',
        'File "script.py", line 4, in <module>',
        'File "script.py", line 3, in f',
    ]
    assert shell.namespace["x"] == 5


@pytest.mark.parametrize(("code", "status"), [("0", "ok"), ("", "ok"), ("3", "error"), ("'no'", "error")])
def test_run_takes_the_exit_of_a_script_for_its_end(
    shell: RecordedShell, tmp_path: Path, code: str, status: str
) -> None:
    (tmp_path / "script.py").write_text(f"import sys\nsys.exit({code})\n", encoding="utf-8")
    assert shell.run("%run script.py").status == status


def test_run_of_nothing_says_where_it_looked(shell: RecordedShell, tmp_path: Path) -> None:
    assert shell.error("%run nothing.py").evalue == f"%run found no file 'nothing.py' in {tmp_path}."
    assert shell.error("%run -x a.py").evalue == "%run has no option `-x`. Its options are: -i -n."


def test_writefile_writes_appends_and_load_shows(
    shell: RecordedShell, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shell.ok("%%writefile 'a b.txt'\n%cd é\n    >>> x\n")
    shell.ok("%%writefile -a 'a b.txt'\nmore")
    assert (tmp_path / "a b.txt").read_text(encoding="utf-8") == "%cd é\n    >>> x\nmore\n"
    shell.ok("%load 'a b.txt'")
    written, appended, *shown = capsys.readouterr().out.splitlines()
    assert (written, appended) == ("Writing a b.txt", "Appending to a b.txt")
    assert shown == ["%cd é", "    >>> x", "more"]
    assert shell.error("%%writefile a b\nx").ename == "UsageError"


def test_capture_keeps_everything_a_cell_shows(shell: RecordedShell, capfd: pytest.CaptureFixture[str]) -> None:
    shell.ok(
        "%%capture kept\nimport sys\nprint('out')\nprint('err', file=sys.stderr)\n!echo child\ndisplay('shown')\n40 + 2"
    )
    assert (capfd.readouterr().out, shell.channel.events) == ("", [])
    kept = shell.namespace["kept"]
    assert (kept.stdout, kept.stderr) == ("out\nchild\n", "err\n")
    assert kept.outputs == [{"text/plain": "'shown'"}, {"text/plain": "42"}]
    shell.ok("kept.show()")
    assert capfd.readouterr().out == "out\nchild\n"
    assert shell.channel.bundles == kept.outputs


def test_capture_of_a_cell_that_fails_gives_the_streams_back(shell: RecordedShell) -> None:
    stdout = sys.stdout
    assert shell.error("%%capture kept\nprint('before')\n1/0").ename == "ZeroDivisionError"
    assert sys.stdout is stdout
    assert shell.namespace["kept"].stdout == "before\n"
    assert shell.ok("1") == "1"


def test_reset_refuses_names(shell: RecordedShell) -> None:
    assert "`del name`" in shell.error("%reset x").evalue


def test_help_tells_what_an_object_is(shell: RecordedShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.ok("def double(x, y=2):\n    'Twice it.'\n    return x * y")
    shell.ok("double?")
    assert capsys.readouterr().out.splitlines() == [
        "Signature:   double(x, y=2)",
        "Type:        function",
        "File:        <cell 1>",
        "Docstring:   Twice it.",
    ]
    shell.ok("double??")
    assert "return x * y" in capsys.readouterr().out
    shell.ok("nothing_here?")
    assert capsys.readouterr().out == "Object `nothing_here` not found.\n"


def test_help_knows_magics_patterns_and_itself(shell: RecordedShell, capsys: pytest.CaptureFixture[str]) -> None:
    shell.ok("%cd?")
    assert "working directory" in capsys.readouterr().out
    shell.ok("str.is*per?")
    assert capsys.readouterr().out == "str.isupper\n"
    shell.ok("?")
    assert "%%writefile" in capsys.readouterr().out
