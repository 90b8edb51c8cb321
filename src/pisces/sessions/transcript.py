"""The output of one call as its events come in: one bounded text for all cells, and what is rich beside it.

Above is `run`, which feeds events; below is the output line. One sink holds the text of the whole call, with the
headings of the cells in it, so that a call has one artifact at most; each cell has a small capture of its own for its
record.
"""

from collections import Counter

import msgspec

from pisces.model.cells import CellRecord
from pisces.model.events import AnyEvent, ClearOutput, Display, Error, InputRequested, Result, Status, Stream
from pisces.model.mime import SVG
from pisces.model.results import CellError, ImageOutput
from pisces.output.artifacts import ArtifactStore
from pisces.output.display import Shown, interpret
from pisces.output.sanitize import Sanitizer, clean
from pisces.output.sink import OutputSink, SinkLimits

OutputPiece = tuple[CellRecord, str]
"""Some text of a cell, as it came, for those who show output while it is made; an empty one when the cell begins."""

MAX_IMAGES = 32
MAX_IMAGE_BYTES = 32 << 20
MAX_JSON_OUTPUTS = 100
MAX_STATUS_EVENTS = 1000
MAX_STATUS_BYTES = 8 << 20
"""What a call keeps of what is rich, so that a loop that displays cannot fill the memory of the host."""

_HELD = {"images": f" ({MAX_IMAGES}, and {MAX_IMAGE_BYTES * 3 // 4 >> 20} MiB of them together): save them as files"}

STDIN_REFUSED = "Kernel requested stdin; interactive input is not supported."


class Transcript:
    """Everything that the cells of one call said. Close it when the call is over."""

    def __init__(self, *, session: str, tool: str, artifacts: ArtifactStore, limits: SinkLimits) -> None:
        self.json_outputs: list[object] = []
        self.images: list[ImageOutput] = []
        self.status_events: list[Status] = []
        self.stdin_requested = False
        self.error: CellError | None = None
        """What the newest cell raised."""
        self.session = session
        """The session whose outputs these are."""
        self._status_bytes = 0
        self._left_out: Counter[str] = Counter()
        self._artifacts = artifacts
        self._tool = tool
        self._limits = limits
        self.sink = OutputSink(limits=limits, spill=lambda: artifacts.new(self.session, tool))
        self._cell: _CellOutput | None = None
        self._pieces: list[OutputPiece] | None = None

    def begin(self, record: CellRecord, total: int) -> None:
        """A cell begins; what comes next is its output."""
        heading = f"[{record.index + 1}/{total}] {record.title}".rstrip() if total > 1 else ""
        self._cell = _CellOutput(record, heading, self)
        self.error = None
        self.gather(record, "")

    def take(self, event: AnyEvent) -> None:
        """An event of the running cell."""
        assert self._cell is not None
        self._cell.take(event)

    def end(self, *, ok: bool) -> None:
        """The running cell is over."""
        if self._cell is not None:
            self._cell.end(ok=ok)
            self._cell = None

    def refresh(self) -> None:
        """Bring the output of the running cell's record up to date, for those who watch."""
        if self._cell is not None:
            self._cell.refresh()

    def gather_pieces(self) -> None:
        """From now on keep every piece of text until `take_pieces` fetches it."""
        self._pieces = []

    def forget_pieces(self) -> None:
        """Nobody fetches them any more."""
        self._pieces = None

    def gather(self, record: CellRecord, text: str) -> None:
        """Keep a piece, if anybody wants pieces."""
        if self._pieces is not None:
            self._pieces.append((record, text))

    def take_pieces(self) -> list[OutputPiece]:
        """The pieces since the last time, in order; each is handed out once."""
        pieces = self._pieces or []
        if pieces:
            self._pieces = []
        return pieces

    def has_room_for_image(self, size: int) -> bool:
        """Whether one more picture is kept; otherwise it is counted."""
        size += sum(len(kept.data) for kept in self.images)
        return self._admits("images", len(self.images) < MAX_IMAGES and size <= MAX_IMAGE_BYTES)

    def has_room_for_json(self) -> bool:
        """Whether one more JSON value is kept; otherwise it is counted."""
        return self._admits("JSON displays", len(self.json_outputs) < MAX_JSON_OUTPUTS)

    def has_room_for_status(self, event: Status) -> bool:
        """Whether one more status is kept; otherwise it is counted."""
        if len(self.status_events) >= MAX_STATUS_EVENTS:
            return self._admits("status events", False)
        size = self._status_bytes + len(msgspec.json.encode(event.data))
        if size <= MAX_STATUS_BYTES:
            self._status_bytes = size
        return self._admits("status events", size <= MAX_STATUS_BYTES)

    def _admits(self, what: str, room: bool) -> bool:
        if not room:
            self._left_out[what] += 1
        return room

    def left_out(self) -> list[str]:
        """What was more than a result holds, a sentence each."""
        return [
            f"Not kept: {count} more {what} than a result holds{_HELD.get(what, '')}."
            for what, count in self._left_out.items()
        ]

    def close(self) -> None:
        """Release the artifact's descriptor."""
        self.sink.close()

    def keep_svg(self, svg: str) -> str:
        """Keep a drawing as an artifact, and say under which id."""
        return self._artifacts.add_bytes(self.session, self._tool, svg.encode("utf-8"), extension="svg")

    def artifact_path(self, artifact_id: str | None) -> str | None:
        """Where an artifact of this call is."""
        return None if artifact_id is None else str(self._artifacts.path(artifact_id))

    def keep_error(self, record: CellRecord, event: Error) -> None:
        """Keep what a cell raised, each text bounded as the output is."""
        if not event.ename:
            return  # A kernel of another language reports a failed command this way, with its exit code.
        ename, evalue, traceback = map(self._bounded, (event.ename, event.evalue, "\n".join(event.traceback)))
        self.error = CellError(ename, evalue, traceback.rstrip("\n").split("\n"), record.index)

    def _bounded(self, text: str) -> str:
        sink = OutputSink(limits=self._limits)
        sink.write(clean(text))
        return sink.dump().text

    def capture(self) -> OutputSink:
        """A sink for the record of one cell."""
        return OutputSink(limits=self._limits)


class _CellOutput:
    """The output of the cell that runs."""

    def __init__(self, record: CellRecord, heading: str, transcript: Transcript) -> None:
        self._record = record
        self._heading = heading
        self._transcript = transcript
        self._capture = transcript.capture() if heading else transcript.sink
        """Where the cell's own output is: for the only cell of a call, that is the output of the call."""
        self._sanitizers = {"stdout": Sanitizer(), "stderr": Sanitizer()}
        self._headed = not heading
        self._at_line_start = True
        self._clear_pending = False
        self._input_refused = False
        self._updates: dict[str, Shown] = {}
        self._images_before = len(transcript.images)
        self._json_before = len(transcript.json_outputs)
        self._pictures: dict[str, list[ImageOutput]] = {}
        """By display id, what an update of it replaces."""
        self._json_places: dict[str, int] = {}
        """By display id, where in the call's JSON its value is."""
        if self._headed:
            transcript.sink.mark()

    def take(self, event: AnyEvent) -> None:
        match event:
            case Stream():
                self._write(self._sanitizers[event.name].feed(event.text))
            case Result() | Display():
                self._show(event)
            case Error():
                self._transcript.keep_error(self._record, event)
                text = clean("\n".join(event.traceback).rstrip("\n"))
                self._input_refused &= STDIN_REFUSED not in text
                self._write_block(text)
            case Status():
                if self._transcript.has_room_for_status(event):
                    self._transcript.status_events.append(event)
                    self._record.status_events.append(event)
            case ClearOutput():
                self._clear_pending = True
                if not event.wait:
                    self._clear_if_pending()
            case InputRequested():
                self._transcript.stdin_requested = self._input_refused = True
            case _:
                pass

    def end(self, *, ok: bool) -> None:
        for sanitizer in self._sanitizers.values():
            self._write(sanitizer.finish())
        for shown in self._updates.values():
            self._write_block(shown.text)
        if self._input_refused:
            self._write_block(STDIN_REFUSED)
        if self._heading:
            if not self._headed and ok:
                self._transcript.sink.write(f"{self._heading} (ok)\n")
            elif not self._headed:
                self._head()
            elif not self._at_line_start:
                self._transcript.sink.write("\n")
        self.refresh()
        if self._heading:
            self._capture.close()

    def refresh(self) -> None:
        self._record.output = self._capture.dump().text

    def _show(self, event: Result | Display) -> None:
        shown = interpret(event.bundle)
        if shown.status is not None:
            self.take(shown.status)
            return
        self._clear_if_pending()
        display_id = event.display_id if isinstance(event, Display) else None
        if isinstance(event, Display) and event.update and display_id is not None:
            # In a stream of text nothing can be replaced in place: the last state is told at the end of the cell.
            self._updates[display_id] = shown
            self._forget_pictures(display_id)
        else:
            self._json_places.pop(display_id or "", None)
            self._write_block(shown.text)
        self._record.has_markdown |= shown.is_markdown and bool(shown.text)
        self._keep_rich(shown, display_id)

    def _keep_rich(self, shown: Shown, display_id: str | None) -> None:
        if shown.json is not msgspec.UNSET:
            self._keep_json(shown.json, display_id)
        for picture in shown.images:
            image = ImageOutput(picture.mime_type, picture.data, self._record.index, picture.width, picture.height)
            if self._transcript.has_room_for_image(len(image.data)):
                self._add_image(image, display_id)
        if shown.svg is not None and self._transcript.has_room_for_image(0):
            self._keep_svg(shown.svg, display_id)

    def _keep_json(self, value: object, display_id: str | None) -> None:
        if display_id not in self._json_places and not self._transcript.has_room_for_json():
            return
        values = self._transcript.json_outputs
        place = len(values) if display_id is None else self._json_places.setdefault(display_id, len(values))
        values[place : place + 1] = [value]

    def _keep_svg(self, svg: str, display_id: str | None) -> None:
        try:
            artifact = self._transcript.keep_svg(svg)
        except OSError as error:
            self._write_block(f"[{SVG} could not be kept: {error.strerror or error}]")
        else:
            self._add_image(ImageOutput(SVG, "", self._record.index, artifact_id=artifact), display_id)

    def _add_image(self, image: ImageOutput, display_id: str | None) -> None:
        self._transcript.images.append(image)
        if display_id is not None:
            self._pictures.setdefault(display_id, []).append(image)

    def _forget_pictures(self, display_id: str) -> None:
        """An update takes the place of the pictures that it replaces."""
        gone = {id(image) for image in self._pictures.pop(display_id, ())}
        if gone:
            self._transcript.images[:] = [image for image in self._transcript.images if id(image) not in gone]

    def _clear_if_pending(self) -> None:
        if not self._clear_pending:
            return
        self._clear_pending = False
        transcript = self._transcript
        if self._headed:
            transcript.sink.clear()
        if self._heading:
            self._capture = transcript.capture()
        del transcript.images[self._images_before :]
        del transcript.json_outputs[self._json_before :]
        self._pictures.clear()
        self._json_places.clear()
        self._updates.clear()
        self._at_line_start = True

    def _head(self) -> None:
        self._headed = True
        self._transcript.sink.write(self._heading + "\n")
        self._transcript.sink.mark()

    def _write(self, text: str) -> None:
        if not text:
            return
        self._clear_if_pending()
        if not self._headed:
            self._head()
        self._transcript.sink.write(text)
        if self._heading:
            self._capture.write(text)
        self._transcript.gather(self._record, text)
        self._at_line_start = text.endswith("\n")

    def _write_block(self, text: str) -> None:
        """Text that stands on lines of its own."""
        if text:
            self._write(("" if self._at_line_start else "\n") + text + "\n")
