"""The results as text: tables that are readable as they are and valid Markdown."""

from bench.report import Facts, Measurement, Report, Unit

_DECIMALS: dict[Unit, int] = {"s": 2, "µs": 0, "MB": 1, "": 1, "count": 0, "%": 1}
_MET = {True: "met", False: "MISSED", None: "not measured"}


def render_facts(facts: Facts) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    return (
        f"{facts.date}, {facts.cores} cores, {facts.system}, Python {facts.python}, "
        f"load before the run {facts.load_before}\n{versions}"
    )


def render_measurement(measurement: Measurement) -> str:
    headings = [
        "",
        *(f"{column.name} ({column.unit})" if column.unit else column.name for column in measurement.columns),
    ]
    rows = [
        [
            row.subject,
            *(_figure(value, column.unit) for value, column in zip(row.figures, measurement.columns, strict=True)),
        ]
        for row in measurement.rows
    ]
    checks = [f"- {_MET[check.met]}: {check.aim}; {check.value}" for check in measurement.checks]
    parts = [f"### {measurement.title}", measurement.how, "\n".join(_table(headings, rows)), "\n".join(checks)]
    return "\n\n".join(part for part in parts if part)


def render_summary(report: Report) -> str:
    checks = [check for measurement in report.measurements for check in measurement.checks]
    met = sum(check.met is True for check in checks)
    return f"{met} of {len(checks)} aims met, in {report.seconds:.0f} seconds"


def _figure(value: float | None, unit: Unit) -> str:
    if value is None:
        return "–"
    if unit == "yes/no":
        return "yes" if value else "NO"
    if unit == "ms":
        return f"{value:,.{2 if value < 10 else 1 if value < 100 else 0}f}"
    return f"{value:,.{_DECIMALS[unit]}f}"


def _table(headings: list[str], rows: list[list[str]]) -> list[str]:
    widths = [max(3, *(len(line[place]) for line in (headings, *rows))) for place in range(len(headings))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    return [_line(headings, widths), f"| {' | '.join(rule)} |", *(_line(row, widths) for row in rows)]


def _line(cells: list[str], widths: list[int]) -> str:
    first, *others = zip(cells, widths, strict=True)
    return f"| {' | '.join([first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)])} |"
