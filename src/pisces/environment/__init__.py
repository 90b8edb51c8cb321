"""What a kernel's process sees and which Python it is: the filtered environment and the chosen interpreter.

Kernels, sessions and the runtime above ask here before they start a process; nothing here starts a kernel.
Below it there are `pisces.settings` and `pisces.errors`.
"""

from pisces.environment.filter import filter_environment
from pisces.environment.interpreter import Interpreter, Search, TimeLeft, resolve_interpreter
from pisces.environment.kernel_environment import kernel_environment
from pisces.environment.mask import SecretMask
from pisces.environment.probe_cache import ProbeCache

__all__ = [
    "Interpreter",
    "ProbeCache",
    "Search",
    "SecretMask",
    "TimeLeft",
    "filter_environment",
    "kernel_environment",
    "resolve_interpreter",
]
