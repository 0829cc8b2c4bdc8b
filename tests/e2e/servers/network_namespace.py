"""A network namespace with only the loopback interface, for programs that listen on every address."""

from __future__ import annotations

__all__ = ["private_network"]

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_CLONE_NEWNET: Final = 0x40000000
_GET_FLAGS: Final = 0x8913
_SET_FLAGS: Final = 0x8914
_UP: Final = 0x1


@contextmanager
def private_network() -> Iterator[bool]:
    """Move this thread, and the processes it starts, to a new network namespace; yield False if not root."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    is_private = libc.unshare(_CLONE_NEWNET) == 0
    try:
        if is_private:
            _start_loopback()
        yield is_private
    finally:
        if is_private and libc.setns(before, _CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "cannot return to the previous network namespace")
        os.close(before)


def _start_loopback() -> None:
    with socket.socket() as any_socket:
        request = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(any_socket, _GET_FLAGS, request), 16)
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))
