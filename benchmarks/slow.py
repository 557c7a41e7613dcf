"""A network that takes its time: `slow.py MILLISECONDS LISTEN SERVER` forwards connections from one Unix socket to
another, and holds what the server sends for a while. So each round trip takes that much longer, and the throughput stays
the same. Ends with SIGTERM."""

import asyncio, sys


async def forward(reader, writer, delay):
    """In order, since all pieces wait for the same time."""
    loop = asyncio.get_running_loop()
    while piece := await reader.read(65536):
        if delay:
            loop.call_later(delay, writer.write, piece)
        else:
            writer.write(piece)
    await asyncio.sleep(delay)
    writer.close()


async def main(milliseconds, listen, server):
    async def connect(reader, writer):
        far_reader, far_writer = await asyncio.open_unix_connection(server)
        await asyncio.gather(forward(reader, far_writer, 0), forward(far_reader, writer, int(milliseconds) / 1000))

    async with await asyncio.start_unix_server(connect, listen) as listener:
        await listener.serve_forever()


asyncio.run(main(*sys.argv[1:]))
