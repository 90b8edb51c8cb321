"""A click group that knows its commands by name and imports one only when it runs, or when its help is asked for."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """`commands_at` says for each command where it is (`module:attribute`) and what it does, in one line."""

    def __init__(self, *, commands_at: Mapping[str, tuple[str, str]], **options: Any) -> None:
        super().__init__(**options)
        self._commands_at = commands_at
        self.params.append(
            click.Option(
                ["--version"],
                is_flag=True,
                is_eager=True,
                expose_value=False,
                callback=_show_version,
                help="Show the version and exit.",
            )
        )

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._commands_at)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in self._commands_at:
            return None
        module, _, attribute = self._commands_at[cmd_name][0].partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        if name in self._commands_at or name.startswith("-"):
            return super().resolve_command(ctx, args)
        raise click.UsageError(f"There is no command {name!r}.{self._suggestion(name)}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in self._commands_at.items()])

    def _suggestion(self, name: str) -> str:
        import difflib  # only a mistyped name needs it

        close = difflib.get_close_matches(name, self._commands_at, n=1)
        return f" Did you mean {close[0]!r}?" if close else f" Commands: {', '.join(self._commands_at)}."


def _show_version(ctx: click.Context, _option: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from pisces._version import __version__

        click.echo(f"pisces {__version__}")
        ctx.exit()
