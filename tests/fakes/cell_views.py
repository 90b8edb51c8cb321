"""A cell in every state that it can be in, for those who show it."""

import base64
import io
import struct
import zlib
from typing import Final

from rich.segment import Segment

from pisces.model.events import Status
from pisces.render.blocks import Formatted, Image, Remark, Tree, Words
from pisces.render.view import CellView, Notice, NoticeKind

NOW: Final = 1_700_000_003.25
CODE: Final = 'import json\n\ndef load(path):\n    """Read it."""\n    return json.loads(read(path))  # all\n'
TRACEBACK: Final = (
    "Traceback (most recent call last):\n"
    '  File "<cell 2>", line 3, in load\n'
    "    return 1 / 0\n"
    "           ~~^~~\n"
    "ZeroDivisionError: division by zero\n"
)
COLOURED_TRACEBACK: Final = (
    "\x1b[31m---------------------------------------------------------------------------\x1b[39m\n"
    "\x1b[31mZeroDivisionError\x1b[39m                         Traceback (most recent call last)\n"
    "\x1b[32m----> 1\x1b[39m \x1b[32m1\x1b[39m / \x1b[32m0\x1b[39m\n\n"
    "\x1b[31mZeroDivisionError\x1b[39m: division by zero"
)
EVENTS: Final = (
    Status("phase", {"text": "Loading"}),
    Status("read", {"path": "data/a.json", "chars": 1}),
    Status("find", {"pattern": "*.py", "path": ".", "count": 3, "matches": ["a.py", "b.py", "c.py"]}),
    Status("sh", {"cmd": "make test", "code": 2}),
    Status("rm", {"path": "gone.txt", "error": "FileNotFoundError: gone.txt"}),
)
VALUE: Final = {
    "name": "Ada",
    "tags": ["a", "b"],
    "deep": {"one": {"two": {"three": {"four": {"five": {"six": {"seven": 7}}}}}}},
    "none": None,
    "on": True,
    "pi": 3.14,
    "empty": [],
}
TABLE: Final = "|  | name | value |\n|---|---|---|\n| 0 | alpha | 1.5 |\n| 1 | beta | 2.5 |"


def lines(count: int) -> str:
    """So many lines of output."""
    return "".join(f"line {number}\n" for number in range(1, count + 1))


def png(width: int, height: int) -> Image:
    """A picture with a red and a blue half, made without a library."""
    row = b"\0" + b"\xff\x00\x00" * (width // 2) + b"\x00\x00\xff" * (width - width // 2)
    made = io.BytesIO()
    made.write(b"\x89PNG\r\n\x1a\n")
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    for kind, data in ((b"IHDR", header), (b"IDAT", zlib.compress(row * height)), (b"IEND", b"")):
        made.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))
    return Image("image/png", base64.b64encode(made.getvalue()).decode(), width, height)


BROKEN: Final = Image("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\n no picture").decode(), 8, 8)

STATES: Final[dict[str, CellView]] = {
    "pending": CellView(code=CODE, title="Load the data", place="[3/3]"),
    "running-silent": CellView(code="wait()", place="[2/3]", status="running", began=NOW - 75),
    "running": CellView(
        code="train()", title="Train", place="[2/3]", status="running", began=NOW - 3.2, blocks=(Words(lines(14)),)
    ),
    "complete": CellView(
        code=CODE,
        title="Load the data",
        place="[1/3]",
        status="complete",
        outcome="ok",
        duration_ms=1234.0,
        blocks=(Words("3 rows\n", "stdout"), Words("careful\n", "stderr"), Words("42")),
    ),
    "silent": CellView(code="x = 1", place="[14]", status="complete", outcome="ok", duration_ms=0.4),
    "long": CellView(
        code=lines(30).replace(" ", "_"),
        title="A title that is much too long for a narrow terminal and has to give way to what matters more",
        place="[1/2]",
        status="complete",
        outcome="ok",
        duration_ms=12_345.0,
        blocks=(Words(lines(40)),),
        artifact_id="7",
    ),
    "error": CellView(
        code="load('a')",
        place="[2]",
        status="error",
        outcome="error",
        exit_code=1,
        duration_ms=38.0,
        blocks=(Words(lines(12)), Words(TRACEBACK, "error")),
    ),
    "error-coloured": CellView(
        code="1 / 0", place="[2]", status="error", outcome="error", blocks=(Words(COLOURED_TRACEBACK, "error"),)
    ),
    "timeout": CellView(code="wait()", status="error", outcome="timeout", exit_code=124, duration_ms=30_000.0),
    "interrupted": CellView(code="wait()", status="error", outcome="interrupted", exit_code=130, duration_ms=65_000.0),
    "crashed": CellView(
        code="crash()",
        place="[3]",
        status="error",
        outcome="crashed",
        exit_code=139,
        duration_ms=7.0,
        notices=(Notice("crashed", "The kernel was ended by SIGSEGV."), Notice("restored", "All of it is back.")),
    ),
    "disconnected": CellView(code="wait()", status="error", outcome="disconnected"),
    "aborted": CellView(code="wait()", status="error", outcome="aborted"),
    "taken-back": CellView(code="x = 2", place="[4]", status="complete", outcome="ok", mark="taken back"),
    "lost": CellView(code="x = 2", place="[4]", status="complete", outcome="ok", duration_ms=5.0, mark="lost"),
    "markdown": CellView(
        code="show()", status="complete", outcome="ok", blocks=(Formatted("# Title\n\n* **one**\n* `two`\n\n> quoted"),)
    ),
    "table": CellView(code="df", status="complete", outcome="ok", blocks=(Formatted(TABLE, "   name\n0  alpha"),)),
    "json": CellView(code="display(d)", status="complete", outcome="ok", blocks=(Tree(VALUE),)),
    "picture": CellView(
        code="plot()",
        status="complete",
        outcome="ok",
        blocks=(Words("before\n"), png(24, 8), Remark("[image/svg+xml]")),
    ),
    "picture-broken": CellView(code="plot()", status="complete", outcome="ok", blocks=(BROKEN,)),
    "events": CellView(code="work()", status="complete", outcome="ok", status_events=EVENTS),
    "many-events": CellView(
        code="work()",
        status="complete",
        outcome="ok",
        status_events=tuple(
            Status("write", {"path": f"out/{number}.txt", "chars": 10**number}) for number in range(14)
        ),
    ),
    "long-line": CellView(code="dump()", status="complete", outcome="ok", blocks=(Words("0123456789" * 450),)),
    "bash": CellView(
        code="ls *.py | wc -l", language="bash", status="complete", outcome="ok", blocks=(Words("3\n", "stdout"),)
    ),
}

NOTICES: Final[dict[NoticeKind, str]] = {
    "restored": "The kernel had ended. Everything up to cell 3 is back; the connection `db` is not.",
    "lost": "The kernel had ended and nothing could be brought back.",
    "unknown": "The connection to the kernel was lost. The next call looks for it.",
    "crashed": "The kernel was ended by SIGSEGV.",
    "stopped": "Command timed out after 30 seconds",
    "cut": "Showing 3,000 of 100,000 lines. All of it: artifact://7",
    "error": "Cell 2 failed (exit code 1). Earlier cells succeeded; their state persists. Fix only cell 2.",
    "info": "Job 4 has finished.",
}


def text_of(rows: tuple[tuple[Segment, ...], ...]) -> str:
    """The rows without styles."""
    return "\n".join("".join(piece.text for piece in row).rstrip() for row in rows)


def styled_text_of(rows: tuple[tuple[Segment, ...], ...]) -> str:
    """The rows with their styles in words."""
    return "\n".join("".join(_in_words(piece) for piece in row) for row in rows)


def _in_words(piece: Segment) -> str:
    return f"<{piece.style}|{piece.text}>" if piece.style else piece.text
