"""How does it run without taking us down?

`Worker` runs any callable in a process of its own under limits of time and memory; what goes wrong there comes back as
a `Fault`, and the next task has a fresh process. `Inline` runs it here, for tasks that are trusted or that cannot wait
for a process. Neither knows what it runs.
"""

from assay.worker.inline import Inline
from assay.worker.outcome import Channel, Done, Fault, Limits, Runner, Task
from assay.worker.pipe import send_by_value
from assay.worker.worker import Worker

__all__ = ["Channel", "Done", "Fault", "Inline", "Limits", "Runner", "Task", "Worker", "send_by_value"]
