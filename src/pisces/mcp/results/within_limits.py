"""A result made small enough for clients: nothing is dropped without a word, and what is cut is in an artifact."""

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from pisces.mcp.results.bounded_pictures import bounded_pictures
from pisces.mcp.results.bounded_text import bounded_texts
from pisces.mcp.results.keeping import Keeping, Kept
from pisces.mcp.results.limits import (
    DATA_BYTES,
    ENVELOPE_BYTES,
    PICTURE_CHARACTERS,
    PICTURES,
    TEXT_BYTES,
    WHOLE_BYTES,
    wire_size,
)
from pisces.model.mime import SVG
from pisces.model.results import Block, Details, ImageBlock, ImageOutput, TextBlock, ToolResult

_DISPLAY: Final = "display["
_DISPLAY_CHARACTERS: Final = 8000
"""A display that is longer has been cut by the tool itself."""


class Limited:
    """One result on its way to a client."""

    def __init__(self, result: ToolResult, tool: str, keeping: Keeping) -> None:
        self._content: list[Block | None] = list(result.content)
        self._keeping = keeping
        self._tool = tool
        self._run = run_of(result.details)
        self._session = "" if self._run is None else self._run.session
        self._notes: list[str] = []

    async def content(self, *, with_data: bool) -> tuple[list[Block], list[str]]:
        """What the client gets, and what is to be said of what it does not get."""
        await self._keep_unshown()
        await self._bound_texts()
        texts = [block.text for block in self._content if isinstance(block, TextBlock)]
        text_size = sum(wire_size(text) for text in texts) * (2 if with_data else 1)
        room = WHOLE_BYTES - ENVELOPE_BYTES - text_size - (DATA_BYTES if with_data else 0)
        await self._bound_pictures(min(PICTURE_CHARACTERS, room))
        self._tell_of_drawings()
        return [block for block in self._content if block is not None], self._notes

    async def _keep_unshown(self) -> None:
        """Pictures that the tool could not make small enough, and has put a text for."""
        for image, block in zip(self._came(), self._content[1:], strict=False):
            if isinstance(block, TextBlock) and image.data:
                kept = await self._keeping.picture(self._session, self._tool, image.data, image.mime_type)
                where = kept.trouble or f"artifact {kept.id} (in {kept.folder})"
                self._notes.append(f"A picture that cannot be shown: {where}")

    async def _bound_texts(self) -> None:
        places = [i for i, block in enumerate(self._content) if isinstance(block, TextBlock)]
        texts = [block.text for block in self._content if isinstance(block, TextBlock)]
        bounded = bounded_texts(texts, TEXT_BYTES)
        whole = dict(self._whole_displays(places, texts))
        cut = sorted({places[i] for i in bounded.cut} | whole.keys())
        if not cut:
            return
        by_place = dict(zip(places, texts, strict=True))
        left_out = [place for place, shown in zip(places, bounded.shown, strict=True) if shown is None]
        for place, shown in zip(places, bounded.shown, strict=True):
            self._content[place] = None if shown is None else TextBlock(shown)
        everything = "\n\n".join(whole.get(place, by_place[place]) for place in cut)
        kept = await self._keeping.text(self._session, self._tool, everything + "\n")
        if left_out:
            self._notes.append(f"Left out: {len(left_out)} of {len(texts)} texts")
        elif set(cut) == {0}:
            self._notes.append("The text is not whole")
        else:
            self._notes.append("Not every display is whole")
        self._notes.append(self._way_to(kept, "everything that was cut"))

    def _whole_displays(self, places: Sequence[int], texts: Sequence[str]) -> Iterator[tuple[int, str]]:
        """The displays that the tool itself has cut, by their place, with their whole text."""
        values = [] if self._run is None else self._run.json_outputs
        last = list(zip(places, texts, strict=True))[len(texts) - len(values) :] if values else []
        for (place, text), value in zip(last, values, strict=False):
            if len(text) > _DISPLAY_CHARACTERS and text.startswith(_DISPLAY):
                heading = text.partition("\n")[0]
                yield place, f"{heading}\n{json.dumps(value, ensure_ascii=False, indent=2, default=str)}"

    async def _bound_pictures(self, room: int) -> None:
        pictures = [(i, block) for i, block in enumerate(self._content) if isinstance(block, ImageBlock)]
        if not pictures:
            return
        bounded = await bounded_pictures([block for _, block in pictures], room, count=PICTURES)
        kept: dict[int, Kept] = {}
        for number, ((place, block), shown) in enumerate(zip(pictures, bounded.shown, strict=True), 1):
            self._content[place] = shown
            if shown is not block:
                data, mime_type = self._as_it_came(place, block)
                kept[number] = await self._keeping.picture(self._session, self._tool, data, mime_type)
        smaller = [place + 1 for place in bounded.smaller]
        left_out = [number for number in kept if number not in smaller]
        for what, numbers in (("made smaller", smaller), ("left out", left_out)):
            if numbers:
                self._notes.append(f"{what.capitalize()}: {_pictures(numbers)} of {len(pictures)}")
        if kept:
            self._notes += self._where(kept)

    def _as_it_came(self, place: int, block: ImageBlock) -> tuple[str, str]:
        """The picture before it was scaled for a model, where that is known: tools put pictures after their text."""
        came = self._came()
        if 1 <= place <= len(came):
            return came[place - 1].data, came[place - 1].mime_type
        return block.data, block.mime_type

    def _came(self) -> list[ImageOutput]:
        return [] if self._run is None else [image for image in self._run.images if image.mime_type != SVG]

    def _where(self, kept: dict[int, Kept]) -> list[str]:
        """Where pictures are: by number, since they are read one by one."""
        there = {number: each for number, each in kept.items() if not each.trouble}
        lost = [(number, each) for number, each in kept.items() if each.trouble]
        sentences = [f"Picture {number} could not be kept: {each.trouble}" for number, each in lost[:1]]
        if there:
            ids = ", ".join(f"{number} is artifact {each.id}" for number, each in there.items())
            first = next(iter(there.values()))
            sentences.append(f"As they came: picture {ids} (files in {first.folder})")
            sentences.append(self._way_to(first, "the first of them"))
        return sentences

    def _tell_of_drawings(self) -> None:
        drawings = [] if self._run is None else [each.artifact_id for each in self._run.images if each.artifact_id]
        if drawings:
            which = f"artifact {drawings[0]}" if len(drawings) == 1 else f"artifacts {', '.join(drawings)}"
            self._notes.append(f"{SVG}: {which}")
            self._notes.append(self._way_to(Kept(drawings[0]), "its source"))

    def _way_to(self, kept: Kept, what: str) -> str:
        way = self._keeping.way_to(kept)
        return way if kept.trouble else f"{way} for {what}"


def needs_no_care(result: ToolResult) -> bool:
    """Whether a result is small beyond doubt, as nearly all are: one short text."""
    run = run_of(result.details)
    return (
        len(result.content) == 1
        and isinstance(block := result.content[0], TextBlock)
        and len(block.text) * 4 <= TEXT_BYTES
        and (run is None or not run.images)
    )


def run_of(details: Any) -> Details | None:
    """The details of cells that ran: those of the result, or of the job whose result it tells."""
    if isinstance(details, Details):
        return details
    inner = getattr(details, "result", None)
    return inner if isinstance(inner, Details) else None


def _pictures(numbers: Sequence[int]) -> str:
    return f"picture{'' if len(numbers) == 1 else 's'} {', '.join(map(str, numbers))}"
