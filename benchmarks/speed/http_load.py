"""Asking a server on loopback the same again and again."""

import asyncio
import time


async def until_up(port: int, path: str) -> bytes:
    """Return the body of the first answer that comes."""
    for _ in range(300):
        try:
            return await get(port, path)
        except OSError:
            await asyncio.sleep(0.1)
    raise SystemExit("The server does not come up.")


async def rate(port: int, path: str, requests: int, connections: int) -> float:
    """Return requests a second over a number of connections at once."""
    each = requests // connections
    start = time.perf_counter()
    await asyncio.gather(*(_ask(port, path, each) for _ in range(connections)))
    return each * connections / (time.perf_counter() - start)


async def get(port: int, path: str) -> bytes:
    """Return the body of one answer."""
    return await _ask(port, path, 1)


async def _ask(port: int, path: str, count: int) -> bytes:
    """Ask the same again over one connection, and return the last answer's body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    request = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()
    body = b""
    for _ in range(count):
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in head.split(b"\r\n", 1)[0]:
            raise SystemExit(f"{path} was answered with {head.splitlines()[0]!r}")
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
    writer.close()
    await writer.wait_closed()
    return body
