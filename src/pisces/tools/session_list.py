"""The action `list`: every session, as it is now."""

import time

from pisces.kernels.base import Checkpointing
from pisces.model.results import ToolResult
from pisces.model.sessions import CheckpointInfo, SessionDetails, SessionInfo
from pisces.sessions.jobs import Jobs
from pisces.sessions.session import Session
from pisces.tools.base import Services
from pisces.tools.job_text import duration
from pisces.tools.session_result import counted, moment, told


def list_sessions(services: Services) -> ToolResult:
    """A line for each session, in order of name."""
    sessions = [session for session in services.pool.sessions if not session.closed]
    found = sorted((_describe(session, services.jobs) for session in sessions), key=lambda info: info.id)
    text = "\n".join(_line(info) for info in found) or "There are no sessions: the python tool makes one."
    return told(text, SessionDetails(action="list", sessions=found))


def _describe(session: Session, jobs: Jobs) -> SessionInfo:
    checkpoints = session.state.checkpoints
    return SessionInfo(
        id=session.key.id,
        interpreter=session.key.interpreter,
        folder=session.folder,
        phase=session.info("kept").phase,
        busy=session.busy,
        idle_seconds=round(time.monotonic() - session.last_used, 3),
        generation=session.generation,
        cells=session.position,
        automatic_checkpoints=sum(not kept.name for kept in checkpoints),
        checkpoints=tuple(CheckpointInfo(kept.name, kept.position, moment(kept.made_at)) for kept in checkpoints.named),
        jobs=tuple(job.id for job in jobs.listed(session) if job.running and job.subject.session is session),
        memory_mb=_memory(session),
        journal=str(session.journal.path or ""),
    )


def _memory(session: Session) -> float | None:
    resident = session.kernel.outlook().resident_mb if isinstance(session.kernel, Checkpointing) else 0.0
    return round(resident, 1) if resident else None


def _line(info: SessionInfo) -> str:
    state = "busy" if info.busy else "no kernel" if info.phase == "shutdown" else "idle"
    named = ", ".join(f"{checkpoint.name!r} after {counted(checkpoint.cells)}" for checkpoint in info.checkpoints)
    parts = [
        f"{state} for {duration(info.idle_seconds)}",
        counted(info.cells),
        f"generation {info.generation}",
        _checkpoints(info.automatic_checkpoints) + (f", named: {named}" if named else ""),
        *([f"jobs: {', '.join(info.jobs)}"] if info.jobs else []),
        *([f"{info.memory_mb:g} MB"] if info.memory_mb else []),
        info.interpreter,
        f"in {info.folder}",
    ]
    return f"{info.id}: {'; '.join(parts)}"


def _checkpoints(number: int) -> str:
    return "1 automatic checkpoint" if number == 1 else f"{number} automatic checkpoints"
