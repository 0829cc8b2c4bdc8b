"""Generate Python code from everpath's registry.proto (`--write`), or check that it is up to date."""

from __future__ import annotations

__all__ = ["PROTO", "compiled", "is_current", "main"]

import sys
import tempfile
from pathlib import Path
from typing import Final

from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet
from grpc_tools import protoc  # type: ignore[import-untyped]

_TOOLS: Final = Path(__file__).resolve().parents[1] / "tools"
_NAME: Final = "everpath/server/registry.proto"
_WELL_KNOWN: Final = Path(protoc.__file__).parent / "_proto"

#: The source of the generated code.
PROTO: Final = _TOOLS / _NAME


def _protoc(*arguments: str) -> None:
    if protoc.main(["protoc", f"-I{_TOOLS}", f"-I{_WELL_KNOWN}", *arguments, _NAME]) != 0:
        raise SystemExit(f"protoc rejects {PROTO}")


def compiled() -> FileDescriptorProto:
    """Compile the proto and return its descriptor."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "set"
        _protoc(f"--descriptor_set_out={out}")
        (found,) = FileDescriptorSet.FromString(out.read_bytes()).file
        return found


def is_current() -> bool:
    """Return whether the generated code has the descriptor of the proto.

    Descriptors are compared, because every release of protoc formats the code differently.
    """
    from everpath.server import registry_pb2  # noqa: PLC0415 - it may not exist yet

    stated = FileDescriptorProto()
    registry_pb2.DESCRIPTOR.CopyToProto(stated)
    wanted = compiled()
    for one in (stated, wanted):
        for message in one.message_type:
            for field in message.field:
                field.ClearField("json_name")
    return stated == wanted


def main(arguments: list[str]) -> int:
    if arguments == ["--write"]:
        _protoc(f"--python_out={_TOOLS}", f"--pyi_out={_TOOLS}")
        # protoc writes mappings without the types of keys and values.
        stubs = PROTO.with_name("registry_pb2.pyi")
        text = stubs.read_text().replace("_Mapping]", "_Mapping[str, _Any]]")
        stubs.write_text(text.replace("from typing import ", "from typing import Any as _Any, "))
        return 0
    if not is_current():
        print(
            f"{PROTO.with_name('registry_pb2.py')} is out of date: scripts/stubs.py --write", file=sys.stderr
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
