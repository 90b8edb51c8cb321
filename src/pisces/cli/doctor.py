"""`pisces doctor`: whether everything works, and how to mend what does not."""

import click


@click.command(short_help="Check that everything works, and say how to mend what does not.")
@click.option("--json", "as_json", is_flag=True, help="Print the findings as JSON.")
def doctor(*, as_json: bool) -> int:
    """Check what Pisces needs, in the folder at hand, by trying it: a kernel is started and runs 1+1.

    \b
      pisces doctor
      pisces doctor --json

    The exit code is 0 when code can be run, and 1 when it cannot.
    """
    import anyio

    from pisces.cli.findings import print_findings
    from pisces.cli.health import examine

    findings = anyio.run(examine)
    print_findings(findings, as_json=as_json)
    return 1 if any(finding.status == "problem" and finding.blocks for finding in findings) else 0
