"""How quantities are written: the one place that turns a number with a unit into text."""

_TIME_STEPS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))
_BYTE_STEPS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def format_ns(ns: float) -> str:
    """A time with three significant digits: ``format_ns(1234.5)`` is ``'1.23 µs'``."""
    size = abs(ns)
    for step, unit in _TIME_STEPS:
        if size >= step:
            return f"{_three_digits(ns / step)} {unit}"
    return f"{_three_digits(ns)} ns"


def format_seconds(seconds: float) -> str:
    """A duration for a person who waits: ``'0.4 s'``, ``'12 s'``, ``'3 min 05 s'``, ``'2 h 10 min'``."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02d} min"


def format_bytes(count: int) -> str:
    """A size in binary units: ``format_bytes(3 << 20)`` is ``'3 MiB'``."""
    for step, unit in _BYTE_STEPS:
        if count >= step:
            return f"{_three_digits(count / step)} {unit}"
    return f"{count} B"


def format_ratio(ratio: float) -> str:
    """A time relative to another, as a change: ``0.8`` is ``'20.0 % faster'``, ``1.05`` is ``'5.0 % slower'``."""
    change = (ratio - 1.0) * 100.0
    return f"{-change:.1f} % faster" if change < 0 else f"{change:.1f} % slower"


def format_share(share: float) -> str:
    """A part of one as a percentage: ``0.0266`` is ``'2.66 %'``."""
    return f"{share * 100:.3g} %"


def _three_digits(value: float) -> str:
    size = abs(value)
    if size >= 100:
        return f"{value:.0f}"
    text = f"{value:.1f}" if size >= 10 else f"{value:.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
