"""One configuration file of a client: what is in it, and a change to it that can be looked at before it is made."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec

from pisces.errors import FileError, FileMissing
from pisces.files.encoding import Encoding, encoding_of
from pisces.files.failures import changed, explained
from pisces.files.whole_file import locked, read_whole
from pisces.mcp.clients import jsonc, jsonc_edit, toml_edit
from pisces.mcp.clients.backup import keep_backup
from pisces.mcp.clients.catalog import Syntax
from pisces.mcp.clients.malformed import Malformed

_OWN: Final = 0o600
_MEND: Final = "Mend it first; the client may not be able to read it either."


class _Editor(NamedTuple):
    values: Callable[[str], Any]
    put: Callable[[str, Sequence[str], Mapping[str, Any]], str]
    merge: Callable[[str, Sequence[str], Mapping[str, Any]], str]
    drop: Callable[[str, Sequence[str]], str]


def _json_values(text: str) -> Any:
    node = jsonc.parse(text)
    return {} if node is None else node.value


_EDITORS: Final[dict[Syntax, _Editor]] = {
    "json": _Editor(_json_values, jsonc_edit.with_member, jsonc_edit.with_members, jsonc_edit.without_member),
    "toml": _Editor(toml_edit.parse, toml_edit.with_table, toml_edit.with_values, toml_edit.without_table),
}


class Change(msgspec.Struct, frozen=True):
    """What a file is, and what it is to be. `before` is None where there is no file."""

    path: Path
    before: bytes | None
    after: bytes

    @property
    def is_none(self) -> bool:
        """Whether there is nothing to do."""
        return (self.before or b"") == self.after

    def diff(self) -> str:
        """The change for a reader."""
        import difflib

        old, new = (_shown(data).splitlines(keepends=True) for data in (self.before or b"", self.after))
        name = str(self.path)
        found = difflib.unified_diff(old, new, "/dev/null" if self.before is None else name, name)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in found)

    def apply(self, *, private: bool) -> Path | None:
        """Make it; returns where the file as it was has been kept, if there was one. The file's mode and links stay.

        A new file is for its owner alone if `private`. Raises `FileChanged` if the file is no longer what it was, and
        `FileError` if it cannot be written; it is then as it was.
        """
        with explained(self.path, "written"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with locked(self.path) as file:
            present = None if file.version is None else file.read()
            if present != self.before:
                raise changed(self.path, created=self.before is None)
            backup = None if present is None else keep_backup(file.path, present)
            file.replace([self.after])
            if present is None and private:
                with explained(self.path, "written"):
                    os.chmod(file.path, _OWN)
        return backup


def entry_in(path: Path, syntax: Syntax, keys: Sequence[str]) -> Any:
    """The value at these keys; None if there is none, or no file. Raises `FileError`."""
    data = _read(path)
    if data is None:
        return None
    text = _decoded(path, data, reassurance="")[1]
    try:
        return _at(_EDITORS[syntax].values(text), keys)
    except Malformed as error:
        raise FileError(f"{path} cannot be read: {error}.", hint=_MEND) from error


def set_entry(path: Path, syntax: Syntax, keys: Sequence[str], entry: Mapping[str, Any]) -> Change:
    """The change that puts an entry there.

    What an entry for a command that is there has besides ours stays: people add variables and rights to it. One that
    is reached in another way is replaced. Raises `FileError` for a file that cannot be read, or not be edited without
    harm.
    """
    data = _read(path)
    encoding, text = _decoded(path, data or b"")
    editor = _EDITORS[syntax]
    with _placed(path):
        values = editor.values(text)
        present = _at(values, keys)
        whole: Mapping[str, Any]
        if isinstance(present, dict) and "command" in present:
            edited, whole = editor.merge(text, keys, entry), {**present, **entry}
        else:
            edited, whole = editor.put(text, keys, entry), entry
        _check(path, editor.values(edited), _updated(values, keys, whole), keys)
    return Change(path, data, _encoded(path, encoding, edited))


def drop_entry(path: Path, syntax: Syntax, keys: Sequence[str]) -> Change:
    """The change that takes an entry away. Raises `FileError` as `set_entry` does."""
    data = _read(path)
    if data is None:
        return Change(path, None, b"")
    encoding, text = _decoded(path, data)
    editor = _EDITORS[syntax]
    with _placed(path):
        values = editor.values(text)
        edited = editor.drop(text, keys)
        _check(path, editor.values(edited), _updated(values, keys, None), keys)
    return Change(path, data, _encoded(path, encoding, edited))


def _read(path: Path) -> bytes | None:
    try:
        return read_whole(path)[0]
    except FileMissing:
        target = Path(os.path.realpath(path))
        if path.is_symlink() and not target.parent.is_dir():
            raise FileError(
                f"{path} is a link to {target}, and that folder is not there.",
                hint="Make the folder, or remove the link.",
            ) from None
        return None


@contextmanager
def _placed(path: Path) -> Iterator[None]:
    try:
        yield
    except Malformed as error:
        raise FileError(f"{path} cannot be edited: {error}. Nothing was written.", hint=_MEND) from error


def _decoded(path: Path, data: bytes, *, reassurance: str = " Nothing was written.") -> tuple[Encoding, str]:
    encoding = encoding_of(data)
    try:
        return encoding, data[len(encoding.bom) :].decode(encoding.name)
    except UnicodeDecodeError as error:
        at = error.start + len(encoding.bom)
        why = f"{path} is no text in {encoding.name.upper()}: see byte {at}."
        raise FileError(f"{why}{reassurance}", hint=_MEND) from error


def _encoded(path: Path, encoding: Encoding, text: str) -> bytes:
    try:
        return encoding.bom + text.encode(encoding.name)
    except UnicodeEncodeError as error:
        bad = error.object[error.start : error.end]
        raise FileError(
            f"{path} cannot hold {bad!r}: a part of the command is no Unicode. Nothing was written.",
            hint="Install Pisces in a folder whose name can be written in UTF-8.",
        ) from error


def _at(values: Any, keys: Sequence[str]) -> Any:
    for key in keys:
        values = values.get(key) if isinstance(values, dict) else None
    return values


def _updated(values: Any, keys: Sequence[str], entry: Mapping[str, Any] | None) -> Any:
    """The values as they should be afterwards."""
    if not keys:
        return entry
    if not isinstance(values, dict):
        return values  # Only for a removal: there is nothing to remove.
    rest = {key: value for key, value in values.items() if key != keys[0] or (entry is not None or len(keys) > 1)}
    if keys[0] in rest or entry is not None:
        rest[keys[0]] = _updated(values.get(keys[0], {}), keys[1:], entry)
    return rest


def _check(path: Path, found: Any, wanted: Any, keys: Sequence[str]) -> None:
    """The editors keep the rest by their making; this makes sure, before anything is written."""
    if _pruned(found, keys) != _pruned(wanted, keys):
        raise FileError(
            f"{path} cannot be edited without changing something else in it. Nothing was written.",
            hint="Edit it by hand.",
        )


def _pruned(values: Any, keys: Sequence[str]) -> Any:
    """Without containers on the way that hold nothing: where JSON keeps an empty one, TOML has none."""
    if not keys or not isinstance(values, dict) or keys[0] not in values:
        return values
    inner = _pruned(values[keys[0]], keys[1:])
    rest = {key: value for key, value in values.items() if key != keys[0]}
    return rest if inner == {} else {**rest, keys[0]: inner}


def _shown(data: bytes) -> str:
    encoding = encoding_of(data)
    text = data[len(encoding.bom) :].decode(encoding.name, "replace").replace("\r\n", "\n")
    return "".join(character if character.isprintable() or character in "\n\t" else "\ufffd" for character in text)
