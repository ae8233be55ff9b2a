"""Why something raised, in words; also of exceptions that cannot be printed."""


def reason_of(failure: BaseException) -> str:
    """What was raised: ``raised ValueError: tile is 0``."""
    name = type(failure).__name__
    try:
        text = str(failure)
    except Exception as unprintable:  # noqa: BLE001 (its name is the reason that is kept)
        return f"raised {name}, whose message raised {type(unprintable).__name__}"
    return f"raised {name}: {text}" if text else f"raised {name}"
