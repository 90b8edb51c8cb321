"""`pisces modules`: the files whose names are in every kernel."""

import click


@click.group(short_help="List the modules that every kernel loads, and try them.")
def modules() -> None:
    """Extension modules: Python files that every fresh kernel runs before its first cell.

    Yours are in ~/.pisces/agent/modules, a project's in .pisces/modules of its folder. They are run in order of file
    name, into the names that cells see; a project's file takes the place of yours of the same name. A project's modules
    are code that comes with its repository: they run in every kernel that starts in that folder.

    A function becomes a helper, which agents are told of, with a category:

    \b
      from pisces_prelude import helper
      @helper("Data")
      def load(name): ...
    """


@modules.command("list", short_help="List them; nothing is run.")
@click.option("--cwd", metavar="DIR", help="The folder of the project; the current one unless given.")
@click.option("--json", "as_json", is_flag=True, help="Print them as JSON.")
def list_(cwd: str | None, *, as_json: bool) -> int:
    """List the modules in the order they are loaded in: where each comes from, and which helpers it has.

    Nothing is run for this: the helpers are those that the source names.
    """
    from pisces.cli.modules_list import show_modules

    return show_modules(cwd, as_json=as_json)


@modules.command(short_help="Start a kernel, load each, and say how that went.")
@click.option("--cwd", metavar="DIR", help="The folder of the project; the current one unless given.")
@click.option("--interpreter", metavar="PYTHON", help="The Python to try them with: a path or a command.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def check(cwd: str | None, interpreter: str | None, *, as_json: bool) -> int:
    """Start a kernel, load each module in it, and say for each whether it works, or where it fails.

    The exit code is 0 when all of them do, and 1 when one does not. Nothing of the kernel is left afterwards.
    """
    from pisces.cli.modules_check import check_modules

    return check_modules(cwd, interpreter, as_json=as_json)
