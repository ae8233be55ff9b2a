"""A clock that moves when told."""


class FakeClock:
    """A clock for tests and simulations.

    Attributes:
        ns: what `now_ns` says; set it, or call `advance`.

    Args:
        ns: where it starts.
        date: what `date` says.
    """

    def __init__(self, ns: int = 0, date: str = "2026-01-01T00:00:00Z") -> None:
        self.ns = ns
        self._date = date

    def now_ns(self) -> int:
        """Nanoseconds since the start."""
        return self.ns

    def date(self) -> str:
        """The date it was given."""
        return self._date

    def advance(self, ns: int) -> None:
        """Moves the clock on.

        Raises:
            ValueError: the step is negative.
        """
        if ns < 0:
            raise ValueError(f"ns={ns}: a clock does not run backwards")
        self.ns += ns
