"""How jobs are spoken of: one line each, the same wherever it stands."""

from pisces.model.results import JobInfo


def job_line(job: JobInfo) -> str:
    """One job of a list."""
    cells = f"cell {min(job.cells_done + 1, job.cells)} of {job.cells}, " if job.cells > 1 else ""
    how = "running for" if job.outcome is None else f"{job.outcome} after"
    return f"{job.id}: {how} {duration(job.seconds)}, {cells}session {job.session}, began {job.started}: {job.title}"


def running_notice(job: JobInfo, limit: float) -> str:
    """Under the output so far of a call that went to the background."""
    return (
        f"{job.id} is running in the background of session {job.session!r}, for at most {limit:g} seconds; the session "
        f"is busy meanwhile. With the session tool, wait for {job.id}, read its output or cancel it."
    )


def busy_notice(job: JobInfo) -> str:
    """Under the result of a call that waited for a job in vain."""
    return (
        f"The session is busy with {job.id}, which has been running for {duration(job.seconds)}: "
        "wait for it or cancel it with the session tool."
    )


def finished_notice(job: JobInfo) -> str:
    """Under the result of the first call after a job has ended."""
    return f"{job.id} has finished ({job.outcome}, after {duration(job.seconds)}): session wait shows its result."


def duration(seconds: float) -> str:
    """A number of seconds for a reader: `0.3 s`, `12 s`, `3 min 20 s`, `2 h 5 min`."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
