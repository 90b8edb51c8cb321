"""Every error that Pisces raises on purpose.

PiscesError                 has `.hint`: what to do about it
├── InvalidCall             the caller's parameters are wrong; nothing was done
├── SettingsError           a settings file, variable or argument is wrong
├── InterpreterError        no usable Python interpreter
├── ArtifactError           an artifact that cannot be read
├── FileError               a file of the user's that cannot be read or not be written
│   ├── FileMissing         it is not there
│   └── FileChanged         somebody else has changed it since it was read; nothing was written
├── JournalError            a journal that cannot be read, or not be exported
├── NotebookError           a notebook that cannot be read, or not be changed that way
│   ├── InvalidJson         a file that holds no JSON
│   └── BadCell             what is wrong with one cell, as a part of a sentence: whoever knows the file names it
├── KernelError
│   ├── KernelStartError    a kernel did not come up
│   ├── NoSuchKernel        no kernel of that name or language is there
│   ├── KernelGone          a kernel's process or channel has ended
│   └── CheckpointError     a kernel's state could not be kept, or not be gone back to
├── SessionError
│   ├── NoSuchSession       no session of that name is there
│   ├── SessionClosed       the session or the pool takes no more runs
│   └── TooManyRestarts     fresh kernels keep dying
└── DeadlineExceeded        the time of the call ran out

A cell that fails is not an error of Pisces: it is a result.
"""

import errno
import os
import resource
from typing import Final

_NO_DESCRIPTOR: Final = (errno.EMFILE, errno.ENFILE)
_SYSTEM_IS_FULL: Final = (
    "All programs together have as many files open as the system allows: end some that have many open."
)


class PiscesError(Exception):
    """The base. `str(error)` says what is wrong, with the value; `hint` says what to do, and may be empty."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self._hint = hint

    @property
    def hint(self) -> str:
        """What to do. Where no file can be opened, no other advice helps, so that is the hint whatever was tried."""
        refusal = without_descriptor(self)
        return self._hint if refusal is None else _about_descriptors(refusal)

    @property
    def clause(self) -> str:
        """The message without its full stop, for use inside a sentence."""
        return str(self).rstrip(".")

    def explain(self) -> str:
        """The message, the hint where there is one, and notes: what a person or an agent should read."""
        return "\n".join([str(self), *([self.hint] if self.hint else []), *getattr(self, "__notes__", ())])


class InvalidCall(PiscesError):
    """The parameters of a call are wrong. Nothing was run and nothing was changed."""


class SettingsError(PiscesError):
    """A setting has an unknown name or a value that is not allowed."""


class InterpreterError(PiscesError):
    """No Python interpreter answered, or the one that was asked for did not."""


class ArtifactError(PiscesError):
    """An artifact does not exist, or cannot be read the way it was asked for."""


class FileError(PiscesError):
    """A file of the user's cannot be read, or not be written; it is as it was."""


class FileMissing(FileError):
    """There is no file of that name."""


class FileChanged(FileError):
    """Somebody else has changed the file since it was read, or made it meanwhile; nothing was written."""


class JournalError(PiscesError):
    """The journal of a session cannot be read, or its notebook not be written."""


class NotebookError(PiscesError):
    """A file that is no notebook, or a change that it does not allow; nothing was written."""


class InvalidJson(NotebookError):
    """A file that holds no JSON, or none yet: somebody may be writing it."""


class BadCell(NotebookError):
    """A cell that no notebook can have."""

    def in_file(self, path: str, index: int | None = None) -> NotebookError:
        """The error for a reader: in which file, and where that is known, in which cell."""
        where = "" if index is None else f"cell {index}: "
        return NotebookError(f"Invalid notebook structure ({where}{self}): {path}")


class KernelError(PiscesError):
    """A kernel could not do what was asked of it."""


class KernelStartError(KernelError):
    """A kernel did not come up; nothing of it is left behind.

    Where its last words say that it could open no file, the default hint is about that.
    """

    REMEDY = "Try another interpreter: `pisces setup python` makes one, `python.interpreter` names one."

    def __init__(self, message: str, *, hint: str = REMEDY) -> None:
        if hint == self.REMEDY:
            hint = _about_its_descriptors(message) or hint
        super().__init__(message, hint=hint)


class NoSuchKernel(KernelError):
    """There is no kernelspec of the name or the language that was asked for; nothing was run."""


class KernelGone(KernelError):
    """The kernel's process or the channel to it has ended."""


class CheckpointError(KernelError):
    """The state could not be kept as a checkpoint, or there is none to go back to; the state is as it was."""


class SessionError(PiscesError):
    """A session could not take the run."""


class NoSuchSession(SessionError):
    """There is no session of the name that was given."""


class SessionClosed(SessionError):
    """The session, or the pool it lives in, has been closed."""


class TooManyRestarts(SessionError):
    """Two fresh kernels in a row died before either finished a cell."""

    def __init__(self) -> None:
        super().__init__(
            "Python kernel restarted too many times in this session",
            hint="Call again with reset: true once the cause is mended; `pisces doctor` checks the interpreter.",
        )


class DeadlineExceeded(PiscesError):
    """The time of the call ran out while it waited."""


def without_descriptor(error: BaseException | None) -> OSError | None:
    """The system's refusal to open one more file, if that is what an error comes from."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in _NO_DESCRIPTOR:
            return error
        if isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        else:
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return None


def _about_descriptors(refusal: OSError) -> str:
    if refusal.errno == errno.ENFILE:
        return _SYSTEM_IS_FULL
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return (
        f"This process has all {limit} files open that it may have. Allow more (`ulimit -n`), or have fewer sessions "
        "at once."
    )


def _about_its_descriptors(words: str) -> str:
    """What to do when these last words of another process say that it could open no file; empty for all others."""
    if f"[Errno {errno.ENFILE}]" in words or os.strerror(errno.ENFILE) in words:
        return _SYSTEM_IS_FULL
    if f"[Errno {errno.EMFILE}]" in words or os.strerror(errno.EMFILE) in words:
        return "The kernel's process has all files open that it may have. Allow more (`ulimit -n`)."
    return ""
