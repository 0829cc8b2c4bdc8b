"""`olm.bundle.object`: a manifest in base64. Nothing here depends on it, but opm decodes each one."""

from __future__ import annotations

__all__ = ["is_base64", "object_flaw"]

import re
from typing import Any, Final

from everpath.parsing.parse_result import TextProblem

_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def is_base64(text: str) -> bool:
    """Whether Go decodes it: padded, in the standard alphabet, line breaks anywhere."""
    return _BASE64.fullmatch(text.replace("\r", "").replace("\n", "")) is not None


def object_flaw(value: Any, *, thorough: bool) -> str | None:
    """Why opm cannot load a bundle with this object in it; `thorough` parses the manifest as well."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return "an olm.bundle.object is a mapping with data"
    data = next((value[key] for key in sorted(value, reverse=True) if key.casefold() == "data"), None)
    if data is None or isinstance(data, list):
        return None
    if not isinstance(data, str) or not is_base64(data):
        return "the data of an olm.bundle.object is not base64"
    return _manifest_flaw(data) if thorough else None


def _manifest_flaw(data: str) -> str | None:
    import base64  # noqa: PLC0415 - only when asked for thoroughness

    manifest = base64.b64decode(data)
    # opm takes what starts with a brace for JSON and passes it on as it is.
    if manifest.lstrip().startswith(b"{"):
        return None
    from everpath.parsing import yaml_parser  # noqa: PLC0415 - libyaml is not free

    try:
        yaml_parser.parse(manifest)
    except TextProblem as problem:
        return f"the manifest in an olm.bundle.object does not parse: {problem}"
    return None
