"""Check `olm.bundle.object` properties: manifests in base64. opm decodes each of them."""

from __future__ import annotations

__all__ = ["bundle_object_error", "is_base64"]

import re
from typing import Any, Final

from everpath.parsing.parse_result import ParseError

_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def is_base64(text: str) -> bool:
    """Return whether Go decodes the text: padded, standard alphabet, line breaks anywhere."""
    return _BASE64.fullmatch(text.replace("\r", "").replace("\n", "")) is not None


def bundle_object_error(value: Any, *, thorough: bool) -> str | None:
    """Return why opm rejects a bundle with this object, or None. `thorough` also parses the manifest."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return "an olm.bundle.object is a mapping with data"
    data = next((value[key] for key in sorted(value, reverse=True) if key.casefold() == "data"), None)
    if data is None or isinstance(data, list):
        return None
    if not isinstance(data, str) or not is_base64(data):
        return "the data of an olm.bundle.object is not base64"
    return _manifest_error(data) if thorough else None


def _manifest_error(data: str) -> str | None:
    import base64  # noqa: PLC0415 - only thorough runs need it

    manifest = base64.b64decode(data)
    # opm treats a manifest that starts with a brace as JSON and does not parse it.
    if manifest.lstrip().startswith(b"{"):
        return None
    from everpath.parsing import yaml_parser  # noqa: PLC0415 - libyaml takes 20 ms to import

    try:
        yaml_parser.parse(manifest)
    except ParseError as error:
        return f"the manifest in an olm.bundle.object does not parse: {error}"
    return None
