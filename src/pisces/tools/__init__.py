"""The tools: what an agent can call, each with a strict schema, a text that teaches it, and one shape of result.

Above are the runtime and the front ends, which know tools by name. Below are the sessions, the output line and the
environment.
"""
