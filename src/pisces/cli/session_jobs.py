"""The commands of `pisces session` about cells that run in the background, and about whole outputs."""

from typing import Final

import click

_JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print the whole result as one JSON object.")
_PLAIN: Final = click.option("--plain", is_flag=True, help="Text only, also at a terminal.")
_TIMEOUT: Final = click.option("--timeout", metavar="SECONDS", type=float, help="How long to wait; 30 unless given.")


@click.command(short_help="List what runs in the background.")
@click.argument("session", metavar="[SESSION]", required=False)
@_JSON
def jobs(session: str | None, *, as_json: bool) -> int:
    """List the jobs, those of SESSION only if it is given. `pisces run --session NAME --background` starts one."""
    from pisces.cli.session_call import manage

    return manage("jobs", {} if session is None else {"session": session}, as_json=as_json)


@click.command(short_help="Wait for a job and show its result.")
@click.argument("job")
@_TIMEOUT
@_PLAIN
@_JSON
def wait(job: str, timeout: float | None, *, plain: bool, as_json: bool) -> int:
    """Wait for JOB and show its result.

    The exit code is that of the job, as `pisces run` would have had it, or 124 if it is still running when the time is
    over. Ctrl+C ends the wait, not the job.

    \b
      pisces run --session s --background -c "import time; time.sleep(60)"
      pisces session wait job-1 --timeout 120
    """
    from pisces.cli.session_call import manage

    return manage("wait", _with_timeout({"job": job}, timeout), as_json=as_json, plain=plain)


@click.command(short_help="Stop a job.")
@click.argument("job")
@_TIMEOUT
@_PLAIN
@_JSON
def cancel(job: str, timeout: float | None, *, plain: bool, as_json: bool) -> int:
    """Interrupt JOB, wait until it has settled, and show what it came to. Its session stays."""
    from pisces.cli.session_call import manage

    return manage("cancel", _with_timeout({"job": job}, timeout), as_json=as_json, plain=plain, cancels=True)


@click.command(short_help="Show what a job has written so far.")
@click.argument("source", metavar="JOB|ID")
@click.argument("lines", metavar="[RANGE]", required=False)
@click.option("--grep", "search", metavar="REGEX", help="Only the lines that match, each with its number.")
@_JSON
def output(source: str, lines: str | None, search: str | None, *, as_json: bool) -> int:
    """Show what a job has written, also while it runs, or the whole output that a result showed in part.

    RANGE is `100-200`, `100-` or `100`. `pisces artifact` prints a whole output too, without a host or a bound.

    \b
      pisces session output job-1
      pisces session output 3 100-200
    """
    from pisces.cli.session_call import manage

    is_artifact = source.isdecimal() or source.startswith("artifact://")
    params: dict[str, object] = {"id" if is_artifact else "job": source}
    if lines is not None:
        params["lines"] = lines
    if search is not None:
        params["search"] = search
    return manage("output", params, as_json=as_json)


def _with_timeout(params: dict[str, object], timeout: float | None) -> dict[str, object]:
    return params if timeout is None else {**params, "timeout": timeout}
