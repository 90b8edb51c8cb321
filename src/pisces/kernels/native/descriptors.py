"""How many descriptors the host may have open: sessions with checkpoints need more than a shell gives by default."""

import resource

_WANTED = 65_536
_before: list[int] = []


def allow_many() -> None:
    """Raise the host's own limit as far as the system allows; kernels get the one of before."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if not _before:
        _before.append(soft)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else min(_WANTED, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def open_files_limit() -> int:
    """The limit that kernels get: the one that the host was started with."""
    return _before[0] if _before else resource.getrlimit(resource.RLIMIT_NOFILE)[0]
