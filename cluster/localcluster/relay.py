"""The part of kube-proxy that pods need: the ClusterIP of the API server, as a process.

The Service `kubernetes` has its address on `lo`, and each connection to it is passed on to the API
server's port on 127.0.0.1, byte for byte: TLS is between the pod and the API server.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from localcluster.api import answers
from localcluster.instance import Instance
from localcluster.supervisor import Component

RELAY = "apiserver-relay"

PORT = 443
"""The port of the Service `kubernetes`."""

CHUNK = 65536


def relay(instance: Instance) -> Component:
    """The process that listens at the address of the Service `kubernetes`."""
    address = instance.service_address
    package = Path(__file__).parent
    return Component(
        name=RELAY,
        argv=(
            *(sys.executable, "-m", f"{package.name}.relay"),
            *(address, str(PORT), str(instance.ports["apiserver"])),
        ),
        ready=lambda _: answers(f"https://{address}:{PORT}/readyz"),
        directory=instance.directory,
        environment={"PYTHONPATH": str(package.parent)},
    )


async def serve(address: str, port: int, target: int) -> asyncio.Server:
    """Listen on `address`, and pass each connection on to the port `target` of 127.0.0.1."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            # The API server is away, which its client sees as a connection that ends.
            writer.close()
            return
        try:
            await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        finally:
            writer.close()
            far_writer.close()

    return await asyncio.start_server(connected, address, port)


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass on what comes, and then that nothing more comes; the other direction may go on."""
    # Whoever ends a connection with a reset has both directions end.
    with suppress(ConnectionError, OSError):
        while chunk := await reader.read(CHUNK):
            writer.write(chunk)
            await writer.drain()
        writer.write_eof()
        return
    writer.close()


async def _run(arguments: Sequence[str]) -> None:
    address, port, target = arguments
    server = await serve(address, int(port), int(target))
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1:]))
