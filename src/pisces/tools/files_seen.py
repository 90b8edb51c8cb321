"""What a caller has not seen of a file, its writes do not remove or change."""

from collections import Counter
from collections.abc import Iterator, Sequence

from pisces.errors import FileChanged, FileError
from pisces.files.encoding import binary_kind, encoding_of, utf8_blocks
from pisces.files.exact_edit import MAX_TEXT
from pisces.files.seen import ALL
from pisces.files.selector import Selection, joined, missing_from
from pisces.files.whole_file import LockedFile
from pisces.output.artifact_text import LineRange
from pisces.output.notice import format_size
from pisces.tools.base import CallContext, Services
from pisces.tools.files_notebook import Part, view_of
from pisces.tools.files_place import FilePlace, limits_of

_NAMED = 5
"""How many ranges of lines a message names."""


class FileSeen:
    """One locked file, and what one caller has seen of it."""

    def __init__(self, services: Services, context: CallContext, place: FilePlace, file: LockedFile) -> None:
        self._services = services
        self._reader = context.reader
        self._longest_line = limits_of(services, context).longest_line
        self._place = place
        self._file = file

    def check_unchanged(self) -> None:
        """Raises `FileChanged` if the caller has read the file, and it is another now. One that is gone is no loss."""
        known = self._services.seen.version(self._reader, self._file.path)
        if known is not None and self._file.version is not None and self._file.version != known:
            raise FileChanged(
                f"{self._place.given} has changed on disk since you read it; nothing was written.",
                hint="Read it again.",
            )

    def check_no_notice(self, text: str) -> None:
        """Raises `FileError` if a line of the text is a notice that the caller got below something that it read.

        A file that has that line may keep it.
        """
        notice = self._services.seen.notice_in(self._reader, text)
        if notice is None or (self._file.version is not None and notice in self._present_text()):
            return
        raise FileError(
            f"The text has the line {notice!r}, which is a notice of `read` and not in any file; nothing was written.",
            hint="Leave the line out, and read what it says was not shown. To have it in a file, write it with Python.",
        )

    def check_parts(self, touched: Sequence[Part]) -> None:
        """Raises `FileError` if the caller has not seen one of these parts of the file."""
        if not touched or self._services.seen.lines(self._reader, self._file.path) == ALL:
            return  # All of the JSON was shown.
        known = self._services.seen.cells(self._reader, self._file.path)
        unseen = [part for part in touched if part.key not in known]
        if unseen:
            self._refuse(
                f"has cells that you have not seen, and this text would remove or change {len(unseen)} of them",
                [part.lines for part in unseen],
                self._present_text().encode("utf-8", "replace").split(b"\n"),
            )

    def check_lines(self, new: bytes) -> None:
        """Raises `FileError` if the new content has not all lines, as they are, that the caller has not seen."""
        version = self._file.version
        known = self._services.seen.lines(self._reader, self._file.path)
        if version is None or not version.size or known == ALL:
            return
        if version.size > MAX_TEXT:
            raise FileError(
                f"{self._place.given} is {format_size(version.size)}, and you have not seen all of it; "
                "nothing was written.",
                hint="Change a part of it with Python, or delete or move it first.",
            )
        data = self._file.read()
        if kind := binary_kind(data):
            raise FileError(
                f"{self._place.given} is not text ({kind}, {format_size(len(data))}), and `write` would replace it; "
                "nothing was written.",
                hint="Delete or move it first if it is to be replaced.",
            )
        encoding = encoding_of(data)
        old = b"".join(utf8_blocks([data], encoding)).split(b"\n")
        total = len(old) - (not old[-1])
        unseen = missing_from(known, LineRange(1, total)) if total else []
        # What is not UTF-8 on disk does not stay byte for byte the same.
        lost = list(_lost(old, new, unseen)) if encoding.unit == 1 else unseen
        if lost:
            self._refuse("has lines that you have not seen, and this text would remove or change some", lost, old)

    def _refuse(self, what: str, lost: Sequence[LineRange], lines: Sequence[bytes]) -> None:
        spans = joined(lost)
        hidden = [
            number
            for span in spans
            for number in range(span.first, (span.last or span.first) + 1)
            if number <= len(lines) and not self._can_be_shown(lines[number - 1])
        ]
        unread = [part for span in spans for part in missing_from(joined(map(_single, hidden)), span)]
        known = self._services.seen.lines(self._reader, self._file.path, of_view=self._is_view)
        unread = [part for span in unread for part in missing_from(known, span)]
        if unread:
            selection = Selection(raw=self._place.selection.raw, lines=tuple(unread[:_NAMED]))
            hint = f"Read {self._place.given}:{selection} first, or change a part with `edit`."
        else:
            why = f"it has more than {self._longest_line:,} characters, or bytes that are not UTF-8"
            hint = f"Line {hidden[0]} cannot be shown as it is: {why}. Change a part of the file with `edit`."
        raise FileError(f"{self._place.given} {what}; nothing was written.", hint=hint)

    def _can_be_shown(self, line: bytes) -> bool:
        try:
            return len(line.decode("utf-8").removesuffix("\r")) <= self._longest_line
        except UnicodeDecodeError:
            return False

    @property
    def _is_view(self) -> bool:
        return view_of(self._place.path, self._place.selection) is not None

    def _present_text(self) -> str:
        """What is in the file now, as `read` shows it."""
        data = self._file.read()
        view = view_of(self._place.path, self._place.selection)
        if view is not None:
            return view.view(data, self._place.given)[0]
        return b"".join(utf8_blocks([data], encoding_of(data))).decode("utf-8", "replace")


def _lost(old: Sequence[bytes], new: bytes, unseen: Sequence[LineRange]) -> Iterator[LineRange]:
    """Those of the unseen lines that the new text does not have: each range in one piece, one after the other.

    An equal line that was seen does not stand for one that was not: the new text has to have both.
    """
    before, after = (Counter(text.removesuffix(b"\n").split(b"\n")) for text in (b"\n".join(old), new))
    position = 0
    for span in unseen:
        assert span.last is not None
        lines = old[span.first - 1 : span.last]
        run = b"\n".join(lines) + (b"\n" if span.last < len(old) else b"")
        at = _find_lines(new, run, position)
        if at < 0 or any(after[line] < before[line] for line in lines):
            yield span
        else:
            position = at + len(run)


def _find_lines(text: bytes, run: bytes, start: int) -> int:
    """Where these whole lines are in a text, -1 if they are not."""
    at = text.find(run, start)
    while at >= 0:
        begins = at == 0 or text[at - 1 : at] == b"\n"
        if begins and (run.endswith(b"\n") or at + len(run) == len(text)):
            return at
        at = text.find(run, at + 1)
    return -1


def _single(number: int) -> LineRange:
    return LineRange(number, number)
