"""Programs that measure from the inside of a host process, each printing one JSON object.

Above are the measurements, which run them through `bench.state.host_process`. Below are the public library, the
contract of a kernel where the library has no figure for it (how long a checkpoint blocks), and the peers.
"""
