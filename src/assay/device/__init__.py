"""Where does it run, and is that place quiet?"""

from assay.device.clock import Clock, SystemClock
from assay.device.contention import Contention, NoCounter, RunQueueWait, process_contention
from assay.device.cpu import CpuDevice, cpu_device
from assay.device.device import UNKNOWN_MODE, Device, agrees
from assay.device.fingerprint import Fingerprint, cpu_fingerprint, make_slug

__all__ = [
    "UNKNOWN_MODE",
    "Clock",
    "Contention",
    "CpuDevice",
    "Device",
    "Fingerprint",
    "NoCounter",
    "RunQueueWait",
    "SystemClock",
    "agrees",
    "cpu_device",
    "cpu_fingerprint",
    "make_slug",
    "process_contention",
]
