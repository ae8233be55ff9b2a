"""How long does an import take? Milliseconds in fresh interpreters, the interpreter's own start taken out."""

import subprocess
import sys
from statistics import median

RUNS = 15

_PROGRAM = "import time; begin = time.perf_counter_ns(); import {module}; {use}; print(time.perf_counter_ns() - begin)"


def import_ms(module: str, use: str = "None", runs: int = RUNS) -> float:
    """Median milliseconds of an import, each in an interpreter of its own, after one that is not counted.

    Args:
        module: what is imported.
        use: an expression that is evaluated after it, for what is loaded when it is first used.
        runs: interpreters.
    """
    program = _PROGRAM.format(module=module, use=use)
    times: list[float] = []
    for turn in range(runs + 1):
        printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        if turn:
            times.append(int(printed) / 1e6)
    return median(times)
