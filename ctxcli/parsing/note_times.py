"""Dates and times as people type them in front matter and behind ``--since``."""

import re
from datetime import datetime, timedelta

_LOOSE = re.compile(
    r"(\d{4})\s*[-/.年]\s*(\d{1,2})\s*[-/.月]\s*(\d{1,2})\s*日?(?:[T\s]+(\d{1,2}):(\d{2})(?::(\d{2}))?)?\s*(Z)?\Z"
)
_AGO = re.compile(
    r"(\d{1,6})\s*([a-z]+|秒|分钟|小时|天|日|周|星期|个?月|年)\s*(?:ago|前|以前|之前|以来)?\Z", re.IGNORECASE
)
_SECONDS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒"), 1),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "分钟"), 60),
    **dict.fromkeys(("h", "hour", "hours", "小时"), 3600),
    **dict.fromkeys(("d", "day", "days", "天", "日"), 86400),
    **dict.fromkeys(("w", "week", "weeks", "周", "星期"), 7 * 86400),
    **dict.fromkeys(("m", "month", "months", "月", "个月"), 30 * 86400),
    **dict.fromkeys(("y", "year", "years", "年"), 365 * 86400),
}
_DAYS = {"today": 0, "今天": 0, "yesterday": 1, "昨天": 1, "前天": 2}


def read_time(text: str) -> datetime | None:
    """A date or time with its zone; without one it is taken as local. None where it is no date."""
    text = text.strip()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        loose = _LOOSE.match(text)
        if not loose:
            return None
        try:
            found = datetime(*(int(part) for part in loose.groups()[:6] if part))  # type: ignore[arg-type]
        except ValueError:
            return None
    try:
        return found if found.tzinfo else found.astimezone()
    except (ValueError, OverflowError, OSError):
        return None


def written(moment: datetime) -> str:
    """A time as notes hold it: ISO 8601 with zone, milliseconds where there are any."""
    return moment.isoformat(timespec="milliseconds" if moment.microsecond else "seconds")


def read_bound(text: str, now: datetime, *, end: bool = False) -> datetime | None:
    """A bound of a range: a date, a time, ``7 days``, ``2 周``, ``yesterday``. As an `end` a date counts whole."""
    bare = text.strip().lower()
    if bare in _DAYS:
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        found = midnight - timedelta(days=_DAYS[bare])
        return found + timedelta(days=1) if end else found
    ago = _AGO.match(bare)
    if ago and ago[2] in _SECONDS:
        try:
            return now - timedelta(seconds=int(ago[1]) * _SECONDS[ago[2]])
        except OverflowError:
            return None
    moment = read_time(text)
    whole_day = end and moment is not None and ":" not in text and "T" not in text
    return moment + timedelta(days=1) if whole_day and moment else moment
