"""A built kernel: a kernel, the setting it runs at, and the program that one build returned."""

from dataclasses import dataclass

from assay.kernel import Entrant, Kernel, Program, Setting


@dataclass(frozen=True, eq=False, slots=True)
class BuiltKernel:
    """What one build for an op returned.

    Attributes:
        kernel: the kernel.
        setting: the setting it runs at.
        program: what runs; its identity says what it was specialised for.
    """

    kernel: Kernel
    setting: Setting
    program: Program

    @property
    def entrant(self) -> Entrant:
        """The kernel at its setting, by name."""
        return Entrant(self.kernel.name, self.setting)
