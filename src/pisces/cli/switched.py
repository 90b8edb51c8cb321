"""What the `PI_` switches turn on for a command: the log, the trace, the stages of the start."""

from collections.abc import Mapping

from pisces.settings.switches import read_switches


def switch_on(environ: Mapping[str, str]) -> None:
    """Turn on what is asked for."""
    switches = read_switches(environ)
    if switches.ipc_trace or switches.debug:
        from pisces.cli.logs import write_log

        write_log(switches, environ)
    if switches.debug_startup:
        from pisces.cli.startup import show_stages, stage

        show_stages()
        stage("command line")
