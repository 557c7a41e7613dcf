"""From exec to the moment at which receiptd says READY=1, on a small database that was read before."""

import contextlib, os, shutil, socket, subprocess, time

from measure import ingest, table
from measure.programs import bare, configure, pace, receiptd
from measure.settings import BIN, FOLDER, STARTS, fail

EVENTS = 1000


@contextlib.contextmanager
def notify_socket():
    path = FOLDER / "notify"
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ear:
        ear.bind(str(path))
        ear.settimeout(120)
        yield path, ear


def start(config):
    """Milliseconds until the service manager would call it started; then it is stopped."""
    with notify_socket() as (path, ear), open(FOLDER / "start.log", "wb") as log:
        began = time.perf_counter()
        process = subprocess.Popen([BIN / "receiptd", "--config", config], stderr=log,
                                   env={**os.environ, "NOTIFY_SOCKET": str(path)}, start_new_session=True)
        try:
            while b"READY=1" not in ear.recv(4096):
                pass
            took = (time.perf_counter() - began) * 1000
        except TimeoutError:
            fail("receiptd did not say that it is ready")
        finally:
            process.terminate()
            if process.wait(60) != 0:
                fail(f"receiptd ended with {process.returncode}: {(FOLDER / 'start.log').read_text()[:3000]}")
    return took


def bare_start():
    began = time.perf_counter()
    with bare():
        return (time.perf_counter() - began) * 1000


def ready(notes):
    ingest.write_records("events", EVENTS)
    folder, ours, limit = FOLDER / "small", [], []
    with bare() as destination:
        shutil.rmtree(folder, ignore_errors=True)
        with receiptd(destination.port, folder) as relay:
            pace("events", relay, 1000, EVENTS)
        ingest.check("events", relay.database, EVENTS, 0)
        config = configure(folder, destination.port)
        for _ in range(STARTS):
            ours.append(start(config))
            limit.append(bare_start())
    row = table.bounded(f"start to ready, {EVENTS:,} events", table.middle(ours), 30, "{:.1f} ms")
    row.limit, row.ratio = f"{table.middle(limit):.1f} ms", table.middle(ours) / table.middle(limit)
    return [row]
