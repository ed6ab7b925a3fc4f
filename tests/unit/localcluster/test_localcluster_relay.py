"""The relay in front of the API server."""

from __future__ import annotations

import asyncio

import pytest
from localcluster.relay import serve


async def _echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer when all of the request is there."""
    writer.write(b"got " + await reader.read())
    writer.close()


async def _through_relay(target: int, request: bytes) -> bytes:
    server = await serve("127.0.0.1", 0, target)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(request)
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    server.close()
    return answer


async def _ask(request: bytes) -> bytes:
    behind = await asyncio.start_server(_echo, "127.0.0.1", 0)
    answer = await _through_relay(behind.sockets[0].getsockname()[1], request)
    behind.close()
    return answer


@pytest.mark.parametrize("request_", [b"hello", bytes(range(256)) * 8000, b""])
def test_all_of_it_gets_there_and_back_also_after_the_request_has_ended(request_: bytes) -> None:
    assert asyncio.run(_ask(request_)) == b"got " + request_


def test_a_server_that_is_away_is_a_connection_that_ends() -> None:
    async def run() -> bytes:
        gone = await asyncio.start_server(_echo, "127.0.0.1", 0)
        port = gone.sockets[0].getsockname()[1]
        gone.close()
        await gone.wait_closed()
        return await _through_relay(port, b"")

    assert asyncio.run(run()) == b""
