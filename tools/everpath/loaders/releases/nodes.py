"""The nodes of a YAML text as they are written: where an alias stands is the alias, not what it means.

The parser's composer puts the node of the anchor in the place of each alias, with the marks of the anchor:
whoever edits there would edit elsewhere.
"""

from __future__ import annotations

__all__ = ["written_nodes"]

from collections.abc import Iterator
from typing import Any, Final

import yaml

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_BEFORE: Final = (yaml.StreamStartEvent, yaml.DocumentStartEvent)


def written_nodes(text: str) -> Any:
    """The top node of the first document, as `yaml.compose` gives it but for aliases: those are scalars."""
    events = yaml.parse(text, Loader=_Loader)
    first = next(event for event in events if not isinstance(event, _BEFORE))
    return _node(first, events)


def _node(event: Any, events: Iterator[Any]) -> Any:
    if isinstance(event, yaml.SequenceStartEvent):
        *below, end = _below(events)
        return _collection(yaml.SequenceNode, event, below, end)
    if isinstance(event, yaml.MappingStartEvent):
        *below, end = _below(events)
        return _collection(yaml.MappingNode, event, list(zip(below[::2], below[1::2], strict=True)), end)
    value = f"*{event.anchor}" if isinstance(event, yaml.AliasEvent) else event.value
    return yaml.ScalarNode("", value, event.start_mark, event.end_mark)


def _below(events: Iterator[Any]) -> Iterator[Any]:
    """The nodes of a collection, and last the event that ends it."""
    for event in events:
        if isinstance(event, yaml.CollectionEndEvent):
            yield event
            return
        yield _node(event, events)


def _collection(kind: Any, start: Any, value: list[Any], end: Any) -> Any:
    return kind("", value, start.start_mark, end.end_mark, flow_style=start.flow_style)
