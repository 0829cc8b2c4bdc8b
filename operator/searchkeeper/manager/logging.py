"""Logs as JSON, a line each: which cluster, which cycle, what was decided, what was written."""

from __future__ import annotations

__all__ = ["JsonFormatter", "Log", "configure_logging"]

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any, Final, TextIO

_NAME: Final = "searchkeeper"
# Libraries speak up when something is wrong with them, and not otherwise.
_LIBRARIES: Final = ("kopf", "kubernetes", "urllib3", "asyncio", "aiohttp")


class JsonFormatter(logging.Formatter):
    """Time, level, message, then the fields that the record was given, in the order they were given."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        line: dict[str, Any] = {
            "time": moment.replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.name != _NAME:
            line["logger"] = record.name
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str, ensure_ascii=False)


class Log:
    """Says things about one cluster, or about the operator."""

    def __init__(self, logger: logging.Logger | None = None, **fields: object) -> None:
        self._logger = logger or logging.getLogger(_NAME)
        self._fields = fields

    def about(self, **fields: object) -> Log:
        return Log(self._logger, **{**self._fields, **fields})

    def info(self, message: str, **fields: object) -> None:
        self._logger.info(message, extra={"fields": {**self._fields, **fields}})

    def warning(self, message: str, **fields: object) -> None:
        self._logger.warning(message, extra={"fields": {**self._fields, **fields}})

    def error(self, message: str, *, trace: bool = False, **fields: object) -> None:
        self._logger.error(message, exc_info=trace, extra={"fields": {**self._fields, **fields}})


def configure_logging(stream: TextIO | None = None, *, plain: bool = False) -> None:
    """Everything goes to standard error, as JSON unless a person asked for plain lines."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(
        logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S") if plain else JsonFormatter()
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name in _LIBRARIES:
        logging.getLogger(name).setLevel(logging.WARNING)
    # It warns that signals are not its business, which is as it should be.
    logging.getLogger("kopf._core.reactor.running").setLevel(logging.ERROR)
