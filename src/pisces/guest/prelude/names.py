"""Every helper by its name: what it takes, what it gives, and what it is for. The work is done elsewhere, lazily."""

from __future__ import annotations

from .status import helper, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path
    from typing import Any, Union

    from .shell import ShellResult

    AnyPath = Union[str, os.PathLike[str]]


@helper("Shell")
def env(key: str | None = None, value: str | None = None) -> dict[str, str] | str | None:
    """All environment variables; with a key its value, or None; with a value too, set it and return it."""
    from . import environment

    return environment.env(key, value)


@helper("Shell", op="sh")
def run(cmd: str | Sequence[str], *, cwd: AnyPath | None = None, timeout: float | None = None) -> ShellResult:
    """Run a shell command; its output also streams to the cell. A list is run as it is, without a shell.

    The result is true when the command went well, and has `stdout`, `stderr`, `code` and `check()`.
    """
    from . import shell

    return shell.run(cmd, cwd=cwd, timeout=timeout)


@helper("Shell", op="sh")
def sh(cmd: str | Sequence[str], *, cwd: AnyPath | None = None, timeout: float | None = None) -> ShellResult:
    """The same as `run`."""
    from . import shell

    return shell.run(cmd, cwd=cwd, timeout=timeout)


@helper("Shell", op="sh")
def bash(cmd: str | Sequence[str], *, cwd: AnyPath | None = None, timeout: float | None = None) -> ShellResult:
    """The same as `run`."""
    from . import shell

    return shell.run(cmd, cwd=cwd, timeout=timeout)


@helper("File I/O")
def read(path: AnyPath, offset: int = 1, limit: int | None = None) -> str:
    """The text of a file, from line `offset` on, at most `limit` lines. `artifact://…` is read by the host."""
    from . import files

    return files.read(path, offset, limit)


@helper("File I/O")
def write(path: AnyPath, content: str) -> Path:
    """Write a whole file in one step; missing folders are made."""
    from . import files

    return files.write(path, content)


@helper("File I/O")
def append(path: AnyPath, content: str) -> Path:
    """Add to the end of a file; missing folders are made, and the file itself."""
    from . import files

    return files.append(path, content)


@helper("File ops")
def rm(path: AnyPath, *, recursive: bool = False) -> None:
    """Delete a file; a folder with `recursive`."""
    from . import files

    files.rm(path, recursive=recursive)


@helper("File ops")
def mv(src: AnyPath, dst: AnyPath) -> Path:
    """Move a file or a folder, into `dst` if that is a folder; missing folders are made."""
    from . import moving

    return moving.mv(src, dst)


@helper("File ops")
def cp(src: AnyPath, dst: AnyPath) -> Path:
    """Copy a file, into `dst` if that is a folder; or a folder, whose content is merged with what `dst` has."""
    from . import moving

    return moving.cp(src, dst)


@helper("Search")
def find(
    pattern: str,
    path: AnyPath = ".",
    *,
    type: str = "file",
    limit: int = 1000,
    hidden: bool = False,
    sort_by_mtime: bool = False,
    maxdepth: int | None = None,
    mindepth: int | None = None,
) -> list[Path]:
    """Paths below a folder whose name, or relative path, matches a glob; not those that .gitignore leaves out.

    `type` is `file`, `dir` or `any`. With `sort_by_mtime` the newest come first. `limit` counts after sorting.
    """
    from . import search

    return search.find(
        pattern,
        path,
        type=type,
        limit=limit,
        hidden=hidden,
        sort_by_mtime=sort_by_mtime,
        maxdepth=maxdepth,
        mindepth=mindepth,
    )


@helper("Search", op="glob")
def glob_files(pattern: str, path: AnyPath = ".", *, hidden: bool = False) -> list[Path]:
    """Files below a folder that match a glob such as `src/**/*.py`; not those that .gitignore leaves out."""
    from . import search

    return search.glob_files(pattern, path, hidden=hidden)


@helper("Search")
def grep(
    pattern: str, path: AnyPath, *, ignore_case: bool = False, literal: bool = False, context: int = 0
) -> list[tuple[int, str]]:
    """The lines of a file that match a regular expression, as (number, text); with `context`, those around too."""
    from . import grepping

    return grepping.grep(pattern, path, ignore_case=ignore_case, literal=literal, context=context)


@helper("Search")
def rgrep(
    pattern: str,
    path: AnyPath = ".",
    *,
    glob_pattern: str = "*",
    ignore_case: bool = False,
    literal: bool = False,
    limit: int = 100,
    hidden: bool = False,
) -> list[tuple[Path, int, str]]:
    """The same in all text files below a folder that .gitignore does not leave out: (path, number, text)."""
    from . import grepping

    return grepping.rgrep(
        pattern,
        path,
        glob_pattern=glob_pattern,
        ignore_case=ignore_case,
        literal=literal,
        limit=limit,
        hidden=hidden,
    )


@helper("Find/Replace")
def replace(path: AnyPath, pattern: str, repl: str, *, regex: bool = False) -> int:
    """Replace every occurrence of a text in a file, or of a regular expression; how many there were."""
    from . import replacing

    return replacing.replace(path, pattern, repl, regex=regex)


@helper("Find/Replace")
def sed(path: AnyPath, pattern: str, repl: str, *, flags: int = 0) -> int:
    """Replace every match of a regular expression in a file (`flags` of `re`, `^` and `$` mean lines); how many."""
    from . import replacing

    return replacing.sed(path, pattern, repl, flags=flags)


@helper("Find/Replace")
def rsed(
    pattern: str, repl: str, path: AnyPath = ".", *, glob_pattern: str = "*", flags: int = 0, hidden: bool = False
) -> int:
    """The same in all text files below a folder that .gitignore does not leave out."""
    from . import replacing

    return replacing.rsed(pattern, repl, path, glob_pattern=glob_pattern, flags=flags, hidden=hidden)


@helper("Text")
def sort_lines(text: str, *, reverse: bool = False, unique: bool = False) -> str:
    """The lines of a text in order; with `unique`, each once."""
    from . import text as words

    return words.sort_lines(text, reverse=reverse, unique=unique)


@helper("Text")
def uniq(text: str, *, count: bool = False) -> str | list[tuple[int, str]]:
    """A text without lines that repeat the one before; with `count`, (how often, line) for each."""
    from . import text as words

    return words.uniq(text, count=count)


@helper("Text")
def counter(items: Iterable[Any], *, limit: int | None = None, reverse: bool = True) -> list[tuple[int, Any]]:
    """How often each item occurs, as (number, item), the most frequent first; lines, if given a text."""
    from . import text as words

    return words.counter(items, limit=limit, reverse=reverse)


@helper("Text")
def cols(text: str, *indices: int, sep: str | None = None) -> str:
    """Some columns of each line, counted from 0, split at white space or at `sep`."""
    from . import text as words

    return words.cols(text, *indices, sep=sep)


@helper("Text")
def diff(a: AnyPath, b: AnyPath) -> str:
    """The unified diff of two files; empty if they are the same."""
    from . import comparing

    return comparing.diff(a, b)


@helper("Navigation")
def tree(path: AnyPath = ".", *, max_depth: int = 3, show_hidden: bool = False) -> str:
    """A folder and what is in it, drawn as a tree; without what .gitignore leaves out."""
    from . import tree as drawing

    return drawing.tree(path, max_depth=max_depth, show_hidden=show_hidden)


@helper("Navigation")
def stat(path: AnyPath) -> dict[str, Any]:
    """What a file is: `path`, `size`, `is_file`, `is_dir`, `mtime`, `mode`."""
    from . import files

    return files.stat(path)


@helper("Line ops")
def lines(path: AnyPath, start: int = 1, end: int | None = None) -> str:
    """The lines of a file from `start` to `end`, both included and counted from 1."""
    from . import line_edits

    return line_edits.lines(path, start, end)


@helper("Line ops")
def delete_lines(path: AnyPath, start: int, end: int | None = None) -> int:
    """Delete the lines from `start` to `end` of a file, or the one; how many there were."""
    from . import line_edits

    return line_edits.delete_lines(path, start, end)


@helper("Line ops")
def delete_matching(path: AnyPath, pattern: str, *, regex: bool = True) -> int:
    """Delete the lines of a file that match; how many there were."""
    from . import line_edits

    return line_edits.delete_matching(path, pattern, regex=regex)


@helper("Line ops")
def insert_at(path: AnyPath, line_num: int, text: str, *, after: bool = True) -> Path:
    """Insert lines after a line of a file, or before it; 0 is before the first."""
    from . import line_edits

    return line_edits.insert_at(path, line_num, text, after=after)


@helper("Agent")
def output(
    *ids: int | str, format: str = "raw", query: str | None = None, offset: int | None = None, limit: int | None = None
) -> Any:
    """Whole outputs that results showed in part, by artifact id: text, or values with `format="json"`.

    `query` picks a part of JSON, such as `.rows[0]["name"]`; lines of JSON are a list. `offset` and `limit` are lines
    of text. Several ids give one text with headings, or a list of values.
    """
    from . import artifacts

    return artifacts.output(*ids, format=format, query=query, offset=offset, limit=limit)


def display(*values: Any, **options: Any) -> Any:
    """Show values in the richest form they have; plain dicts, lists and tuples as JSON, with their text beside it."""
    from . import showing

    return showing.display(*values, **options)


display.category = "Agent"  # type: ignore[attr-defined]  # It is told by itself, and needs no event.


@helper("Agent")
def log(text: str) -> None:
    """A line for the person who watches."""
    tell(text=str(text))


@helper("Agent")
def phase(text: str) -> None:
    """A heading for the person who watches: what begins now."""
    tell(text=str(text))


@helper("Agent")
def parallel(calls: Iterable[Callable[[], Any]], *, limit: int = 16) -> list[Any]:
    """Run functions side by side, at most `limit` at a time; their values in order.

    `parallel([lambda: tool.read(path="a"), lambda: tool.read(path="b")])`. If one raises, the others are let finish.
    """
    from . import side_by_side

    return side_by_side.parallel(calls, limit=limit)


class _Tools:
    """The tools of the host: `tool.read(path="a.py")`, `tool["name"](…)`; `dir(tool)` lists them."""

    category = "Agent"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # Asked for by those who look at objects, and no tool is called so.
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Any:
        from . import host_tools

        return host_tools.HostTool(name)

    def __dir__(self) -> list[str]:
        from . import host_tools

        return host_tools.names()

    def __repr__(self) -> str:
        return "the tools of the host, by name: tool.read(path=…), tool['name'](…)"


tool = _Tools()


def helpers() -> dict[str, Any]:
    """All of them, by name."""
    return {name: value for name, value in globals().items() if hasattr(value, "category") and name[0] != "_"}
