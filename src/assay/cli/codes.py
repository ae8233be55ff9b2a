"""What a command ends with, as the shell sees it."""

import signal

DONE = 0
NO = 1
"""A check said no."""

WRONG_USE = 2
"""Something that was given is wrong, or nothing could be done with it."""

INTERRUPTED = 130
"""The exit code of an interrupted command."""

READER_GONE = 128 + signal.SIGPIPE
"""Whoever read standard output has gone."""
