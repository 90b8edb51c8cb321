"""`pisces artifact`: whole outputs, of which results show a part."""

import click


@click.command(short_help="Show a whole output that a result showed in part.")
@click.argument("address", metavar="[ID]", required=False)
@click.argument("lines", metavar="[RANGE]", required=False)
@click.option("--grep", "pattern", metavar="REGEX", help="Only the lines that match, each with its number.")
@click.option("--list", "as_list", is_flag=True, help="List what there is, newest first.")
def artifact(address: str | None, lines: str | None, pattern: str | None, *, as_list: bool) -> int:
    """Print an output that was too long for a result.

    ID is the number that the result names, or an address such as artifact://3:1-50. RANGE is `100-200`, `100-` or
    `100`; lines count from 1. However large it is, it is printed whole, line by line as it is read.

    \b
      pisces artifact 3
      pisces artifact 3 100-200
      pisces artifact 3 --grep "Error|Warning"
      pisces artifact --list

    The exit code is 1 when there is no such artifact, or when no line matches.
    """
    import os

    from pisces.cli.artifact_output import find_artifact, list_artifacts, print_lines, print_matches
    from pisces.settings.paths import Paths

    folder = Paths.locate(os.environ).artifacts
    if as_list:
        if address is not None or pattern is not None:
            raise click.UsageError("--list takes neither an id nor --grep.")
        return list_artifacts(folder)
    if address is None:
        raise click.UsageError("Which one? Give its id, or --list to see what there is.")
    found = find_artifact(folder, address, lines)
    return print_lines(found) if pattern is None else print_matches(found, pattern)
