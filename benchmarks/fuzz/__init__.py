"""Fuzzing: bytes that coverage guides, through every reader of what comes from outside.

A reader gives a value, or raises a `Problem` whose sentence is short and holds no control character. Whatever else it
does is a finding: another exception, a hang, memory without bound, a crash of a library in C.
"""
