"""Reads Python source just well enough to know where logical lines begin and end.

It never fails: the source may be wrong, and the rest of it may be no Python at all (`!ls "`), so every line is read
only as far as the rewriting of special syntax needs. The standard `tokenize` cannot do that: from Python 3.12 on it
stops at the first such line.
"""

from __future__ import annotations

import re
import sys

_NESTED_QUOTES = sys.version_info >= (3, 12)
"""Since then the fields of an f-string are code like any other, with quotes and comments of their own."""

_TOKEN = re.compile(
    r"""(?P<string>[rbuftRBUFT]{0,2}(?P<quote>\"{3}|'{3}|"|'))
    | (?P<comment>\#[^\r\n]*)
    | (?P<newline>\r\n|[\r\n])
    | (?P<joined>\\(?:\r\n|[\r\n]))
    | (?P<open>[(\[{])
    | (?P<close>[)\]}])
    | (?P<operator>[=!<>:+\-*/%&|^@]=)
    | (?P<assign>=)
    | (?P<space>[ \t\f]+)
    | (?P<other>\w+|.)
    """,
    re.VERBOSE | re.DOTALL,
)
_STRING_END = {
    quote: re.compile(rf"(?:[^{quote[0]}\\]|\\.|{quote[0]}(?!{quote[1:]}))*?{quote}", re.DOTALL)
    if len(quote) == 3
    else re.compile(rf"(?:[^{quote}\\\r\n]|\\(?:\r\n|.))*{quote}?", re.DOTALL)
    for quote in ('"""', "'''", '"', "'")
}
