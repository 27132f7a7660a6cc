"""A connection to a scheduler of Dask on which every message is data: nothing that comes is unpickled.

Dask reads its messages with pickle, so whoever sends one may run code here. These connections read msgpack
alone. What was packed by pickle stays packed: a text is read from its opcodes, and nothing is called.
"""

from __future__ import annotations

import pickletools
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import msgpack  # type: ignore[import-untyped]

SCHEMES = {"tcp": "data+tcp", "tls": "data+tls"}
MOST = 1 << 30  # bytes of a message
TEXT = {"PROTO", "FRAME", "MEMOIZE", "STOP", "SHORT_BINUNICODE", "BINUNICODE", "BINUNICODE8"}
LENGTH = struct.Struct("Q")


@dataclass(frozen=True)
class Packed:
    """Bytes that came, as they are, packed by `msgpack`, or else by pickle or something unknown."""

    data: bytes
    msgpack: bool = False

    def text(self) -> str:
        """Returns the text that was packed.

        Raises:
            ValueError: it is no text.
        """
        if self.msgpack:
            found: object = msgpack.loads(self.data, raw=False, strict_map_key=False)
        else:
            opcodes = [(code.name, argument) for code, argument, _ in pickletools.genops(self.data)]
            strange = next((name for name, _ in opcodes if name not in TEXT), "")
            if strange:
                raise ValueError(f"a text is needed, and pickle's {strange} is no part of one")
            texts = [argument for _, argument in opcodes if isinstance(argument, str)]
            found = texts[0] if len(texts) == 1 else None
        if not isinstance(found, str):
            raise ValueError("a text is needed")
        return found

    def words(self) -> str:
        """Returns the short texts in it, to be shown to people, and numbers where they end a tuple."""
        told: list[str] = []
        number = ""
        last: object = None
        try:
            for code, argument, _ in pickletools.genops(self.data):
                if isinstance(argument, str) and code.name != "PROTO":
                    told.append(argument[:200])
                elif code.name == "TUPLE3" and isinstance(last, int):
                    number = f" {last}"
                last = argument if code.name != "MEMOIZE" else last
        except ValueError:
            told.append("a message that cannot be read")
        return " ".join(told[:20]) + number


def address(of: str) -> str:
    """Returns the address of the scheduler at `tcp://...` or `tls://...` for such connections."""
    _register()
    scheme, _, place = of.partition("://")
    return f"{SCHEMES[scheme]}://{place}"


def decoded(frames: Sequence[Any]) -> Any:
    """Returns the message in the frames as plain data: texts, numbers, lists, mappings and `Packed`.

    Raises:
        ValueError: it is no message.
    """

    def read(found: dict[Any, Any]) -> Any:
        for mark in ("__Serialized__", "__Pickled__"):
            place = found.get(mark)
            if isinstance(place, int) and 0 < place < len(frames):
                return _packed(frames, place)
        if "__Set__" in found:
            return set(found["as-list"])
        if "__Enum__" in found:
            return str(found["name"])
        if isinstance(found.get("exception"), Packed | bytes):
            found["exception"] = _inert(found["exception"]).words()
            found["traceback"] = None
        return found

    try:
        return _inert(msgpack.loads(frames[0], object_hook=read, use_list=False, strict_map_key=False))
    except (TypeError, KeyError, IndexError, RecursionError) as error:
        raise ValueError(f"no message: {error!r:.200}") from None


def _packed(frames: Sequence[Any], place: int) -> Packed:
    header = msgpack.loads(frames[place], use_list=False, strict_map_key=False)
    count = int(header["num-sub-frames"])
    from distributed.protocol.compression import decompress

    parts = list(frames[place + 1 : place + 1 + count])
    if "compression" in header:
        parts = decompress(header, parts)
    data = b"".join(bytes(part) for part in parts)
    return Packed(bytes(header.get("pickled-obj", b"")) + data, header.get("serializer") == "msgpack")


def _inert(found: Any) -> Any:
    """Returns plain data in which bytes are `Packed`: nothing that reads bytes by pickle accepts them."""
    if isinstance(found, bytes | bytearray | memoryview):
        return Packed(bytes(found))
    if isinstance(found, Mapping):
        return {_inert(name): _inert(value) for name, value in found.items()}
    if isinstance(found, tuple | list):
        return tuple(map(_inert, found))
    return found


async def _read(self: Any, deserializers: object = None) -> Any:
    """Returns the next message."""
    from distributed.comm.core import CommClosedError
    from distributed.comm.tcp import read_bytes_rw
    from distributed.protocol.utils import unpack_frames
    from tornado.iostream import StreamClosedError

    del deserializers
    stream = self.stream
    if stream is None:
        raise CommClosedError
    try:
        (size,) = LENGTH.unpack(await stream.read_bytes(LENGTH.size))
        if size > MOST:
            raise ValueError("a message is too large")
        frames, rest = unpack_frames(await read_bytes_rw(stream, size), partial=True)
        if sum(rest) > MOST:
            raise ValueError("a message is too large")
        for part in rest:
            frames.append(await read_bytes_rw(stream, part))
        return decoded(frames)
    except StreamClosedError as error:
        self.stream, self._closed = None, True
        raise CommClosedError(f"the connection ended: {error}") from None
    except ValueError as error:
        self.abort()
        raise CommClosedError(f"what comes from the scheduler cannot be read: {error}") from None
    except BaseException:
        self.abort()
        raise


@cache
def _register() -> None:
    """Makes these connections known to Dask, under schemes of their own; the imports are slow."""
    from distributed.comm.registry import backends
    from distributed.comm.tcp import TCP, TLS, BaseTCPBackend, TCPConnector, TLSConnector

    kinds: dict[str, tuple[type[TCP], type[Any]]] = {"tcp": (TCP, TCPConnector), "tls": (TLS, TLSConnector)}
    for scheme, (comm, connector) in kinds.items():
        data = type(f"Data{comm.__name__}", (comm,), {"read": _read})
        own = {"prefix": f"{SCHEMES[scheme]}://", "comm_class": data}
        made = type(f"Data{connector.__name__}", (connector,), own)
        backends[SCHEMES[scheme]] = type("DataBackend", (BaseTCPBackend,), {"_connector_class": made})()
