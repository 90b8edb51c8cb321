"""`pisces doctor`: whether everything works, and how to mend what does not."""

import sys
from functools import partial

import click


@click.command(short_help="Check that everything works, and say how to mend what does not.")
@click.option("--run", is_flag=True, help="Run the code of this folder too, without being asked.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(*, run: bool, as_json: bool) -> int:
    """Check what Pisces needs, in the folder at hand, by trying it: a kernel is started and runs 1+1.

    \b
      pisces doctor
      pisces doctor --json

    A Python that may run code of the folder and was never used in it is run only if you agree, or with --run: it may
    do anything. Without a terminal it is not run, and the findings say so.

    The kernel starts in an empty temporary folder, because Python imports modules from the folder it starts in. With
    --run it starts in the folder at hand.

    The exit code is 0 when code can be run, and 1 when it cannot.
    """
    import anyio

    from pisces.cli.findings import print_findings
    from pisces.cli.health import examine

    def may_run(why: str) -> bool:
        if run or not (sys.stdin.isatty() and sys.stderr.isatty()):
            return run
        return click.confirm(f"{why} Run it?", err=True)

    findings = anyio.run(partial(examine, may_run, in_folder=run))
    print_findings(findings, as_json=as_json)
    return 1 if any(finding.status == "problem" and finding.blocks for finding in findings) else 0
