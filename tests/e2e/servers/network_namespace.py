"""A network that consists of the loopback address, for programs that listen on every address there is."""

from __future__ import annotations

__all__ = ["own_network"]

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_NEW_NETWORK: Final = 0x40000000
_GET_FLAGS: Final = 0x8913
_SET_FLAGS: Final = 0x8914
_UP: Final = 0x1


@contextmanager
def own_network() -> Iterator[bool]:
    """For the calling thread, and for whatever it starts; whether there is one. Only root may have one."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    is_own = libc.unshare(_NEW_NETWORK) == 0
    try:
        if is_own:
            _start_loopback()
        yield is_own
    finally:
        if is_own and libc.setns(before, _NEW_NETWORK) != 0:
            raise OSError(ctypes.get_errno(), "cannot go back to the network of before")
        os.close(before)


def _start_loopback() -> None:
    with socket.socket() as any_socket:
        asked = struct.pack("16sH14x", b"lo", 0)
        (flags,) = struct.unpack_from("H", fcntl.ioctl(any_socket, _GET_FLAGS, asked), 16)
        fcntl.ioctl(any_socket, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))
