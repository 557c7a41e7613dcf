"""Databases with one purchase, made by receiptd itself, from which bigdata.py makes many."""

import contextlib, http.server, shutil, socket, sqlite3, subprocess, threading, time

import bigdata
import workload
from measure.programs import FAST, app, bare, listed, pace, receiptctl, receiptd, wait_for_arrivals
from measure.settings import FOLDER, ROOT, fail

SEEDS = FOLDER / "seeds"
SAMPLES = 1000
NAMES = {1: "stripe", 3: "receipt"}  # of dictionaries, by their numbers
DICTIONARIES = ROOT / "Sources/Store/Bodies/Dictionaries"


@contextlib.contextmanager
def closed_port():
    """A port on which nobody listens, held for as long as it is needed."""
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


@contextlib.contextmanager
def refusing():
    """A destination that refuses every receipt with 422."""
    class Refusal(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(422)
            self.end_headers()
            self.wfile.write(b'{"errors":["missing mandatory property stripe_price_id"]}')

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Refusal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


@contextlib.contextmanager
def taking():
    with bare(FOLDER / "seed.kept") as destination:
        yield destination.port


DESTINATIONS = {"delivered": taking, "failed": refusing, "pending": closed_port, "waiting": taking, "cancelled": taking}


def seed(state):
    """The path of a database with one receipt in this state."""
    folder = SEEDS / state
    if folder.exists():
        return folder / "receiptd.db"
    folder.mkdir(parents=True)
    names_user = state not in ("waiting", "cancelled")
    workload.write_events(FOLDER, "seed", 1, small=workload.small_session(names_user))
    with DESTINATIONS[state]() as port, receiptd(port, folder) as relay:
        pace("seed", relay, 100, 1, connections=1)
        if state == "cancelled":
            found = listed(relay.config, "receipts", "list")[0]
            receiptctl(relay.config, "receipts", "cancel", found["id"], "--why", "benchmark", "--yes")
        wait_for(relay, lambda receipt: receipt["state"] == state and (state != "pending" or receipt["attempts"] > 0))
    expand(folder / "receiptd.db")
    return folder / "receiptd.db"


def expand(database):
    """Stores the bodies without compression, so that the ids in them can be replaced."""
    places = (("events", "body", "body = ?"), ("purchases", "body", "body = ?"),
              ("contexts", "frame", "ply_context = CAST(? AS TEXT), frame = NULL"))
    with contextlib.closing(sqlite3.connect(database)) as store, store:
        for table, column, change in places:
            rows = store.execute(f"SELECT row_id, dictionary, {column} FROM {table} WHERE dictionary IS NOT NULL").fetchall()
            for row, number, frame in rows:
                words = ["zstd", "-dcq", "-D", DICTIONARIES / f"{NAMES[number]}.dict"]
                text = subprocess.run(words, input=frame, stdout=subprocess.PIPE, check=True).stdout
                store.execute(f"UPDATE {table} SET {change}, dictionary = NULL WHERE row_id = ?", (text, row))


def filled():
    """The path of a database with SAMPLES events, each with a delivered receipt."""
    folder = SEEDS / "filled"
    if folder.exists():
        return folder / "receiptd.db"
    folder.mkdir(parents=True)
    workload.write_events(FOLDER, "samples", SAMPLES)
    with bare(FOLDER / "seed.kept") as destination:
        apps = {workload.APP: app(destination.port, **FAST)}
        with receiptd(apps, folder) as relay:
            pace("samples", relay, 2000, SAMPLES)
            wait_for_arrivals(destination, SAMPLES, 30)
    return relay.database


def wait_until(is_done, failure, seconds=30, pause=0.02):
    end = time.monotonic() + seconds
    while not is_done():
        if time.monotonic() > end:
            fail(failure)
        time.sleep(pause)


def wait_for(relay, is_done):
    end = time.monotonic() + 10
    while not is_done(found := listed(relay.config, "receipts", "list")[0]):
        if time.monotonic() > end:
            fail(f"the seed's receipt did not get there: {found}")
        time.sleep(0.02)


def moment_of(path):
    with contextlib.closing(sqlite3.connect(path)) as store:
        return store.execute("SELECT max(first_seen_at) FROM purchases").fetchone()[0]


def empty(folder, apps):
    """An empty database that receiptd made. Gives its path."""
    shutil.rmtree(folder, ignore_errors=True)
    with receiptd(apps, folder) as relay:
        return relay.database


def due(folder, count, slug=workload.APP):
    """A database with receipts that are due, of one app. Gives its path."""
    path = seed("pending")
    now = moment_of(path)
    replaced = {"next_attempt_at": str(now), "app": bigdata.quoted(slug)}
    with closed_port() as port:
        database = empty(folder, {slug: app(port)})
    bigdata.fill(database, [(path, count, replaced, (now - count, now))])
    return database


def copy(database, folder):
    """Puts a copy of the database into a separate folder, all of it on the disk."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700)
    shutil.copyfile(database, folder / database.name)
    bigdata.sync(folder / database.name)
