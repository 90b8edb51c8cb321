"""Files and folders, moved and copied as `mv` and `cp` do."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from .arguments import located, named
from .status import tell
from .whole_files import make_parents, open_plain, taking_the_place_of, unused_name_beside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .arguments import AnyPath

_BLOCK = 1024 * 1024
_NAMED = 5
"""How many of those that could not be copied an error names."""


def mv(src: AnyPath, dst: AnyPath) -> Path:
    """Move a file, a link or a folder; into `dst` if that is a folder. A file that is in the way is replaced."""
    source, target = located(src), located(dst)
    tell(src=named(src), dst=named(dst))
    status = os.lstat(source)
    is_folder = stat.S_ISDIR(status.st_mode)
    into = target.is_dir() or (not is_folder and named(dst).endswith("/"))
    place = target / _own_name(source) if into else target
    with suppress(FileNotFoundError):
        if os.path.samestat(os.lstat(place), status):
            raise ValueError(f"{source} and {place} are the same file")
    if is_folder:
        _check_not_inside(source, place)
    make_parents(place)
    try:
        os.rename(source, place)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        _move_across(source, place)
    return place


def cp(src: AnyPath, dst: AnyPath) -> Path:
    """Copy a file, into `dst` if that is a folder; or a folder, whose content `dst` then has besides its own.

    A link is copied as what it leads to, one inside a folder as a link. Modes are copied, times are not. If some in a
    folder cannot be copied, all others are, and then it raises `OSError`.
    """
    source, target = located(src), located(dst)
    tell(src=named(src), dst=named(dst))
    is_folder = stat.S_ISDIR(os.stat(source).st_mode)
    into = not is_folder and (target.is_dir() or named(dst).endswith("/"))
    place = target / _own_name(source) if into else target
    with suppress(FileNotFoundError):
        if os.path.samefile(source, place):
            raise ValueError(f"{source} and {place} are the same {'folder' if is_folder else 'file'}")
    if not is_folder:
        _copy_file(source, place)
        return place
    _check_not_inside(source, place)
    make_parents(place)
    failures: list[str] = []
    _copy_folder(source, place, failures)
    if failures:
        more = f" and {len(failures) - _NAMED} more" if len(failures) > _NAMED else ""
        raise OSError(f"{source}: the rest was copied, but not {'; '.join(failures[:_NAMED])}{more}")
    return place


def _own_name(source: Path) -> str:
    """What it is called, whatever way it was reached."""
    return source.name if source.name not in {"", ".."} else os.path.basename(os.path.realpath(source))


def _check_not_inside(folder: Path, place: Path) -> None:
    real = os.path.realpath(folder)
    if os.path.commonpath([real, os.path.realpath(place)]) == real:
        raise ValueError(f"{folder} cannot be put inside itself: {place}")


def _move_across(source: Path, place: Path) -> None:
    """To another disk: nothing is seen at the new place before all is there, and nothing is deleted before that."""
    staged = unused_name_beside(place)
    is_folder = source.is_dir() and not source.is_symlink()
    try:
        if is_folder:
            shutil.copytree(source, staged, symlinks=True)
        else:
            shutil.copy2(source, staged, follow_symlinks=False)
        os.rename(staged, place)
    except BaseException:
        with suppress(OSError):
            _remove(staged, is_folder)
        raise
    _remove(source, is_folder)


def _remove(path: Path, is_folder: bool) -> None:
    if is_folder:
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _copy_file(source: Path, place: Path) -> None:
    if place.is_symlink() and not place.exists():
        raise FileExistsError(errno.EEXIST, "Is a link that leads nowhere, and is not written through", str(place))
    with open_plain(source) as original:
        mode = os.fstat(original.fileno()).st_mode & 0o777
        with taking_the_place_of(place, mode=mode, durable=False) as copy:
            shutil.copyfileobj(original, copy, _BLOCK)


def _copy_link(source: Path, place: Path) -> None:
    """A link takes the place of a file or of another link, in one step."""
    beside = unused_name_beside(place)
    os.symlink(os.readlink(source), beside)
    try:
        os.replace(beside, place)
    except BaseException:
        os.unlink(beside)
        raise


def _copy_folder(source: Path, target: Path, failures: list[str]) -> None:
    mode = stat.S_IMODE(os.stat(source).st_mode) & 0o777
    made = not target.is_dir()
    if made:
        os.mkdir(target, mode | stat.S_IRWXU)
    with os.scandir(source) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        inner, place = source / entry.name, target / entry.name
        try:
            if entry.is_symlink():
                _copy_link(inner, place)
            elif entry.is_dir() and place.is_symlink():
                raise NotADirectoryError(errno.ENOTDIR, "Is a link, not a folder", str(place))
            elif entry.is_dir():
                _copy_folder(inner, place, failures)
            else:
                _copy_file(inner, place)
        except (OSError, ValueError) as error:
            failures.append(f"{inner} ({error})")
    if made and mode & stat.S_IRWXU != stat.S_IRWXU:
        os.chmod(target, os.stat(target).st_mode & mode)
