"""Numbers and their nouns."""


def counted(count: int, noun: str, plural: str = "") -> str:
    """Returns "1 passage" or "2 passages"; `plural` where it is more than an s."""
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"


def waiting(count: int) -> str:
    """Returns "1 passage waits to be embedded" or "2 passages wait to be embedded"."""
    return f"{counted(count, 'passage')} {'waits' if count == 1 else 'wait'} to be embedded"


def purging(purge_within_s: int) -> str:
    """Returns ", bytes gone within 4 hours"; nothing where that is not promised."""
    if not purge_within_s:
        return ""
    for seconds, noun in ((3_600, "hour"), (60, "minute")):
        if purge_within_s % seconds == 0:
            return f", bytes gone within {counted(purge_within_s // seconds, noun)}"
    return f", bytes gone within {counted(purge_within_s, 'second')}"
