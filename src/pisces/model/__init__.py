"""Values that travel between the layers: events, cells, results, MIME names.

Everything above imports from here; nothing here does any work or holds any resource.
Below it there is only the standard library and msgspec.
"""
