"""Connections that ask, once they are connected, whether a request may still be sent.

To connect, and to agree on the encryption, can take longer than a request has.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection

from converter.cluster.wire import socket_options

_CHECK: ContextVar[Callable[[], None] | None] = ContextVar("check", default=None)


@contextmanager
def asking(check: Callable[[], None]) -> Iterator[None]:
    """Call `check` immediately before each request of this thread; where it raises, none is sent.

    For the connections of a manager that was prepared.
    """
    before = _CHECK.set(check)
    try:
        yield
    finally:
        _CHECK.reset(before)


class _Connection(HTTPConnection):
    def request(self, *arguments: Any, **options: Any) -> None:
        check = _CHECK.get()
        if check is not None:
            if self.is_closed:
                self.connect()
            check()
        super().request(*arguments, **options)


class _TlsConnection(_Connection, HTTPSConnection):
    pass


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


def prepare(manager: PoolManager) -> None:
    """Have the connections that the manager makes ask, and give up what nobody acknowledges."""
    manager.connection_pool_kw["socket_options"] = socket_options()
    manager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}
