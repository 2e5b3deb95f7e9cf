"""Times as people write them: 90s, 20m, 3h."""

from __future__ import annotations

import re

from .failure import BadInput

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}


def seconds_of(text: str, option: str) -> float:
    """Seconds of a time such as 90s, 1.5h or 20m."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*", str(text).lower())
    if match is None or match[2] not in _UNITS or float(match[1]) <= 0:
        raise BadInput(f"{option} {text!r} is not a time; write for example 90s, 20m or 3h")
    return float(match[1]) * _UNITS[match[2]]


def time_of(seconds: float) -> str:
    """A time for people: 0:07, 2:05:00."""
    whole = round(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02}:{whole % 60:02}" if hours else f"{minutes}:{whole % 60:02}"
