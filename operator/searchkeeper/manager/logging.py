"""Structured logs: one JSON object a line, with a fixed set of keys."""

from __future__ import annotations

__all__ = ["KEYS", "JsonFormatter", "Log", "LogFields", "configure_logging"]

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final, TextIO, TypedDict, Unpack

_NAME: Final = "searchkeeper"
# Every key that a line may have, in the order in which it has them.
KEYS: Final = (
    *("ts", "level", "msg", "cluster", "pool", "pod", "action", "reason", "operation"),
    *("from", "to", "attempt", "reconcile", "error", "logger"),
)
# Libraries whose warnings are logged, and nothing below.
_LIBRARIES: Final = ("kubernetes", "urllib3", "asyncio")


class LogFields(TypedDict, total=False):
    """The fields of a log line. `from_` and `to` are versions, `reconcile` is the number of the run.

    `cluster` is "namespace/name", `pool` the name of a SearchPool, `attempt` the number of failures so far.
    """

    cluster: str
    pool: str
    pod: str
    action: str
    reason: str
    operation: str
    from_: str
    to: str
    attempt: int
    reconcile: int
    error: str


class JsonFormatter(logging.Formatter):
    """Format a record as JSON, with the keys of KEYS only."""

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        fields: dict[str, Any] = {
            **{name.rstrip("_"): value for name, value in getattr(record, "fields", {}).items()},
            "ts": time.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "msg": record.getMessage(),
        }
        if record.name != _NAME:
            fields["logger"] = record.name
        if record.exc_info:
            fields["error"] = self.formatException(record.exc_info)
        return json.dumps(
            {key: fields[key] for key in KEYS if key in fields}, default=str, ensure_ascii=False
        )


class Log:
    """A logger with fields that every line of it has."""

    def __init__(self, **fields: Unpack[LogFields]) -> None:
        self._logger = logging.getLogger(_NAME)
        self._fields = fields

    def bind(self, **fields: Unpack[LogFields]) -> Log:
        """A logger with these fields as well."""
        bound: LogFields = {**self._fields, **fields}
        return Log(**bound)

    def info(self, message: str, **fields: Unpack[LogFields]) -> None:
        self._logger.info("%s", message, extra={"fields": {**self._fields, **fields}})

    def warning(self, message: str, **fields: Unpack[LogFields]) -> None:
        self._logger.warning("%s", message, extra={"fields": {**self._fields, **fields}})

    def error(self, message: str, **fields: Unpack[LogFields]) -> None:
        self._logger.error("%s", message, extra={"fields": {**self._fields, **fields}})

    def exception(self, message: str, **fields: Unpack[LogFields]) -> None:
        """Log an error with the stack trace of the exception that is being handled."""
        self._logger.exception("%s", message, extra={"fields": {**self._fields, **fields}})


def configure_logging(stream: TextIO | None = None) -> None:
    """Send all logs of the process to standard error, or to `stream`, as JSON."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name in _LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
