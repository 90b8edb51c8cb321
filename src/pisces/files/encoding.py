"""Whether bytes are text, and in which encoding: all text goes on from here as UTF-8."""

import codecs
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

HEAD: Final = 8192
"""How many bytes at the beginning decide."""


class Encoding(msgspec.Struct, frozen=True):
    """How the text of a file is encoded."""

    name: str
    """As Python calls it, without the mark: `utf-8`, `utf-16-le`, `utf-16-be`."""
    bom: bytes = b""
    """The mark at its beginning that says so."""

    @property
    def unit(self) -> int:
        """How many bytes a character takes at least, and begins at a multiple of."""
        return 2 if self.name.startswith("utf-16") else 1


_MARKED: Final = (
    Encoding("utf-8", codecs.BOM_UTF8),
    Encoding("utf-16-le", codecs.BOM_UTF16_LE),
    Encoding("utf-16-be", codecs.BOM_UTF16_BE),
)
_SIGNATURES: Final[tuple[tuple[bytes, str], ...]] = (
    (b"%PDF-", "PDF document"),
    (b"PK\x03\x04", "zip archive, or a document of that form"),
    (b"\x1f\x8b", "gzip archive"),
    (b"BZh", "bzip2 archive"),
    (b"\xfd7zXZ\x00", "xz archive"),
    (b"\x28\xb5\x2f\xfd", "zstd archive"),
    (b"7z\xbc\xaf\x27\x1c", "7z archive"),
    (b"\x7fELF", "ELF program or library"),
    (b"SQLite format 3\x00", "SQLite database"),
    (b"PAR1", "Parquet table"),
    (b"ARROW1", "Arrow table"),
    (b"\x89HDF\r\n\x1a\n", "HDF5 file"),
    (b"\x93NUMPY", "NumPy array"),
    (b"\x00asm", "WebAssembly module"),
)


def encoding_of(head: bytes) -> Encoding:
    """The encoding that the beginning of a file marks; UTF-8 where it marks none."""
    return next((found for found in _MARKED if head.startswith(found.bom)), Encoding("utf-8"))


def binary_kind(head: bytes) -> str | None:
    """What kind of data begins like this, None for text: a NUL among the first bytes is no text without a mark."""
    if encoding_of(head).bom:
        return None
    if picture := picture_kind(head):
        return picture
    has_nul = b"\0" in head[:HEAD]
    for signature, kind in _SIGNATURES:
        # A text may begin like the short ones, such as `BZh` and `PAR1`.
        if head.startswith(signature) and (has_nul or not signature.isascii() or signature == b"%PDF-"):
            return kind
    return "binary data" if has_nul else None


def picture_kind(head: bytes) -> str | None:
    """Which kind of picture begins like this."""
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return "PNG image"
    if head.startswith(b"\xff\xd8\xff"):
        return "JPEG image"
    if head.startswith((b"GIF87a", b"GIF89a")):
        return "GIF image"
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "WebP image"
    if head.startswith(b"BM") and head[6:10] == b"\0\0\0\0":
        return "BMP image"
    return None


def utf8_blocks(blocks: Iterable[bytes], encoding: Encoding) -> Iterator[bytes]:
    """The text in UTF-8 without its mark. What is no UTF-8 stays as it is; what is no UTF-16 is replaced."""
    skip = len(encoding.bom)
    decoder = None if encoding.unit == 1 else codecs.getincrementaldecoder(encoding.name)("replace")
    for whole in blocks:
        block, skip = whole[skip:], max(0, skip - len(whole))
        if text := block if decoder is None else decoder.decode(block).encode("utf-8"):
            yield text
    if decoder is not None and (rest := decoder.decode(b"", final=True)):
        yield rest.encode("utf-8")
