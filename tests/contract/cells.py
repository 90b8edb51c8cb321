"""Cells that several cases use, or that the scripted kernel has to know by their text."""

DISPLAYS = """
try:
    from IPython.display import clear_output, display, update_display
except ImportError:
    pass  # They are builtins there.
"""
SPIN = "print('ready', flush=True)\nwhile True: pass"
SLEEP = "import time\nprint('ready', flush=True)\ntime.sleep(60)"
AWAIT = "import asyncio\nprint('ready', flush=True)\nawait asyncio.sleep(60)"
CHILD_SLEEPS = "import os\nos.system('echo ready; sleep 60')"
# In a loop: it gets one interrupt only, and one that comes in the moment before code blocks in the system is not seen.
CATCH_AND_GO_ON = """
import time
try:
    print('ready', flush=True)
    while True: time.sleep(0.05)
except KeyboardInterrupt:
    print('caught')
"""
NEVER_STOP = """
import time
while True:
    try:
        print('ready', flush=True)
        time.sleep(60)
    except BaseException:
        pass
"""
KILL_ITSELF = "import os, signal\nprint('last words', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)"
SEGFAULT = "import ctypes\nctypes.string_at(0)"
LEAVE_WITH_0 = "import os\nos._exit(0)"
LEAVE_WITH_3 = "import os\nos._exit(3)"
