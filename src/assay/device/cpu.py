"""This machine's processor, as Linux describes it; elsewhere what Python's platform module knows.

What a process may use counts, not what the machine has: cores are those of its affinity.
"""

import mmap
import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from assay.device.clock import Clock, SystemClock
from assay.device.contention import Contention, process_contention
from assay.device.device import UNKNOWN_MODE, Device
from assay.device.fingerprint import Fingerprint, cpu_fingerprint

_CPUINFO = {
    "vendor": ("vendor_id", "CPU implementer"),
    "family": ("cpu family", "CPU architecture"),
    "model": ("model", "CPU part"),
    "stepping": ("stepping", "CPU revision"),
    "name": ("model name",),
    "features": ("flags", "Features"),
}
_VECTOR_BITS = (("avx512f", 512), ("avx", 256), ("sse2", 128), ("asimd", 128))
_SIZE_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


class CpuDevice:
    """The processor this process runs on.

    Args:
        root: the root of the file system that holds ``proc`` and ``sys``.
        clock: the clock calls are timed by.
    """

    name = "cpu"

    def __init__(self, root: Path = Path("/"), clock: Clock | None = None) -> None:
        self.clock: Clock = clock or SystemClock()
        self._cpus = _usable_cpus()
        self._sys = root / "sys/devices/system/cpu"
        details = _read_cpuinfo(root / "proc/cpuinfo")
        caches = _read_caches(self._sys / f"cpu{self._cpus[0]}/cache")
        self._facts = _facts(details.get("features", ""), caches, len(self._cpus))
        for cache, size in caches.items():
            details[cache] = str(size)
        details["architecture"] = platform.machine()
        self.fingerprint: Fingerprint = cpu_fingerprint(details, len(self._cpus))
        self._tasks = root / "proc/self/task"
        self._contention: Contention | None = None

    @property
    def mode(self) -> str:
        """The frequency governor all usable cores share; `UNKNOWN_MODE` when none is reported or they differ."""
        modes = {_read(self._sys / f"cpu{cpu}/cpufreq/scaling_governor") for cpu in self._cpus}
        mode = modes.pop()
        return UNKNOWN_MODE if modes or not mode else mode

    def facts(self) -> Mapping[str, object]:
        """Cores, cache sizes, line and page size in bytes, vector width in bits, architecture."""
        return self._facts

    def contention(self) -> Contention:
        """The run-queue wait of this process's threads, where the system counts it."""
        if self._contention is None:
            self._contention = process_contention(str(self._tasks))
        return self._contention


def cpu_device() -> Device:
    """The processor this process runs on, with the system's clock."""
    return CpuDevice()


def _usable_cpus() -> list[int]:
    if hasattr(os, "sched_getaffinity"):
        return sorted(os.sched_getaffinity(0))
    return list(range(os.cpu_count() or 1))


def _read(path: Path) -> str:
    """The stripped text of a small file; empty where the system has none."""
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _read_cpuinfo(path: Path) -> dict[str, str]:
    first = _read(path).split("\n\n", 1)[0]
    rows = dict(re.findall(r"^([^\t:]+?)\s*:\s*(.*)$", first, flags=re.MULTILINE))
    details: dict[str, str] = {}
    for part, names in _CPUINFO.items():
        for name in names:
            if rows.get(name):
                details[part] = rows[name].strip()
                break
    if "features" in details:
        details["features"] = " ".join(sorted(details["features"].split()))
    return details


def _read_caches(folder: Path) -> dict[str, int]:
    """The sizes in bytes of the data and unified caches one core sees, and of a line, by fact name."""
    found: dict[str, int] = {}
    for index in sorted(folder.glob("index*")):
        if _read(index / "type") == "Instruction":
            continue
        level, size = _read(index / "level"), re.fullmatch(r"(\d+)([KMG]?)", _read(index / "size"))
        if level and size:
            found[f"l{level}_bytes"] = int(size[1]) * _SIZE_UNITS[size[2]]
        line = _read(index / "coherency_line_size")
        if line.isdigit():
            found["line_bytes"] = int(line)
    return found


def _facts(features: str, caches: Mapping[str, int], cores: int) -> Mapping[str, object]:
    facts: dict[str, object] = {"arch": platform.machine(), "cores": cores, "page_bytes": mmap.PAGESIZE, **caches}
    offered = set(features.split())
    for feature, bits in _VECTOR_BITS:
        if feature in offered:
            facts["vector_bits"] = bits
            break
    return MappingProxyType(facts)
