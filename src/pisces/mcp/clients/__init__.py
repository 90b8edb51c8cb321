"""The configuration of MCP clients: where each keeps its servers, and putting Pisces among them.

Above is the command line; below are plain files. The editors of JSON and TOML take text and return text: what is
outside our entry stays as it is, to the byte. Nothing here loads the SDK but the trial, when it runs.
"""
