"""Those that are compared, each behind the same three calls, each in a host process of its own.

Above are the measurements, which talk to `serve` through `bench.subject_process`. Below are the public library,
jupyter_client, and a child process with a pipe.
"""
