"""How much memory a process holds, and the kernel's limit on it.

Two figures count, and the larger is meant: private writable memory, which grows when it is allocated, and resident
memory, which also sees what is shared. The kernel's limit is set a quarter above the stated one: whoever allocates in
steps is seen crossing the stated limit by the parent, which can say so, while a single request far past it fails where
it is made. (At the kernel's limit a C kernel only gets a null pointer, and would die of a segmentation fault that does
not tell why.) Address space is not limited: thread stacks and allocator arenas reserve far more than they use.
"""

import os
import resource
from pathlib import Path

_RESIDENT, _DATA = 1, 5
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def held_bytes(process: int) -> int:
    """Bytes a process holds; 0 when it is gone."""
    try:
        pages = Path(f"/proc/{process}/statm").read_bytes().split()
    except OSError:
        return 0
    return max(int(pages[_RESIDENT]), int(pages[_DATA])) * _PAGE_BYTES


def limit_own_memory(more_bytes: int) -> None:
    """Let the kernel refuse this process, and those it forks, what goes a quarter past `more_bytes` from now on."""
    most = held_bytes(os.getpid()) + more_bytes + more_bytes // 4
    _, ceiling = resource.getrlimit(resource.RLIMIT_DATA)
    if ceiling != resource.RLIM_INFINITY:
        most = min(most, ceiling)
    resource.setrlimit(resource.RLIMIT_DATA, (most, ceiling))
