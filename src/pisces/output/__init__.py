"""What a cell says, made fit to be read: cleaned, bounded, kept in full on disk, and rich data turned into text.

Above are the sessions, which feed events in and take a `Dump` out, and the front ends, which read artifacts.
Below are only the values of `pisces.model`; nothing here knows a kernel, a setting or a terminal.
"""
