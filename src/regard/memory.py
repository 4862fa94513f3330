"""Keeping freed memory at hand: handing it back to the system and asking for it again took a third of training time."""

import ctypes
import sys

_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # names of glibc's mallopt(3)


def keep_freed_memory() -> bool:
    """Tells glibc's malloc to serve large tensors from memory it keeps. True if that could be said; elsewhere no
    harm."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(_MMAP_THRESHOLD, 1 << 30) and mallopt(_TRIM_THRESHOLD, 2**31 - 1))
