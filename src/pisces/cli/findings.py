"""What an examination found, and how it is told."""

from collections.abc import Sequence
from typing import Final, Literal

import click
import msgspec

Status = Literal["ok", "problem", "off"]

_MARKS: Final = {"ok": ("ok", "green"), "problem": ("PROBLEM", "red"), "off": ("off", "yellow")}


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was looked at."""

    name: str
    status: Status
    summary: str
    details: tuple[str, ...] = ()
    fix: str = ""
    """What to do about it."""
    blocks: bool = False
    """Whether no code can be run before it is mended."""


def print_findings(findings: Sequence[Finding], *, as_json: bool) -> None:
    """Print them, best read from top to bottom: each line after the first relies on those above it."""
    if as_json:
        works = not any(finding.blocks for finding in findings)
        plain = {"ok": works, "findings": msgspec.to_builtins(list(findings))}
        click.echo(msgspec.json.encode(plain).decode("utf-8"))
        return
    width = max(len(finding.name) for finding in findings)
    for finding in findings:
        mark, color = _MARKS[finding.status]
        click.echo(f"{click.style(f'{mark:<7}', fg=color)}  {finding.name:<{width}}  {finding.summary}")
        indent = " " * (width + 11)
        for detail in finding.details:
            click.echo(f"{indent}{detail}")
        if finding.fix:
            click.echo(f"{indent}→ {finding.fix}")
