"""A private PostgreSQL server from Debian's package, and what pgbench reaches on it. It is in a temporary folder and has
no port: it listens on a socket there, which only its user and root may use."""

import contextlib, json, os, pathlib, shutil, signal, subprocess, tempfile, urllib.parse

from measure import seeds
from measure.settings import fail

# Of the values in one statement pgbench sends 255 at most.
BATCH_MAX = 120
# These have a new value in each row.
IDS = {"event_id": "evt_1", "object_id": "sub_1", "session_id": "cs_live_a1", "customer_id": "cus_", "user_id": "user-",
       "receipt_id": "r_"}
BODIES = {"events": "event_body", "purchases": "receipt_body"}


class Server:
    def __init__(self):
        found = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
        if not found:
            fail("there is no PostgreSQL server here: deploy/dev/deps server")
        self.programs, self.processes = found[-1].parent, []
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="receipt-relay.", dir="/tmp"))
        # The server refuses to run as root.
        self.user = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        if self.user:
            shutil.chown(self.folder, "postgres", "postgres")

    def run(self, name, *words):
        """What a program of PostgreSQL prints; it runs as the server's user."""
        done = subprocess.run([self.programs / name, *words], cwd=self.folder, capture_output=True, text=True, **self.user)
        if done.returncode:
            fail(f"{name} failed: {done.stdout}{done.stderr}")
        return done.stdout

    def start(self, name, port):
        with open(self.folder / f"{name}.log", "wb") as log:
            self.processes.append(subprocess.Popen(
                [self.programs / "postgres", "-D", name, "-p", str(port), "-k", self.folder], cwd=self.folder,
                stderr=log, stdout=log, start_new_session=True, **self.user))
        accepts = [self.programs / "pg_isready", "-q", "-h", self.folder, "-p", str(port)]
        seeds.wait_until(lambda: subprocess.run(accepts).returncode == 0, "PostgreSQL did not start")

    def make(self, has_standby):
        self.run("initdb", "-N", "-A", "trust", "-U", "receiptd", "-E", "UTF8", "--locale=C.UTF-8", "-D", "primary")
        with open(self.folder / "primary/postgresql.conf", "a") as settings:
            settings.write("listen_addresses=''\nmax_wal_senders=4\nshared_buffers=256MB\nmax_connections=200\n"
                           "max_wal_size=4GB\n")
        self.start("primary", 5432)
        if not has_standby:
            return
        self.run("pg_basebackup", "-D", "standby", "-R", "-c", "fast", "-X", "stream", "-d",
                 f"host={self.folder} port=5432 user=receiptd application_name=standby")
        self.start("standby", 5433)
        self.query("postgres", "ALTER SYSTEM SET synchronous_standby_names = 'standby'")
        self.query("postgres", "SELECT pg_reload_conf()")
        synchronous = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'"
        seeds.wait_until(lambda: self.query("postgres", synchronous) == "1", "the standby is not synchronous")

    def query(self, database, statement):
        return self.run("psql", "-X", "-q", "-A", "-t", "-h", self.folder, "-p", "5432", "-U", "receiptd", "-d", database,
                        "-c", statement).strip()

    def url(self, database, folder=None):
        return f"postgres://receiptd@{urllib.parse.quote(str(folder or self.folder), safe='')}:5432/{database}"

    def cpu_ticks(self):
        """CPU time of the primary's sessions and helpers so far (proc(5))."""
        total = 0
        for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
            with contextlib.suppress(OSError):
                fields = path.read_text().rsplit(")", 1)[1].split()
                if int(fields[1]) == self.processes[0].pid:
                    total += int(fields[11]) + int(fields[12])
        return total

    def pgbench(self, database, batch, seconds):
        """Rows that one client of pgbench inserts in a second. It inserts rows like those that receiptd has stored last,
        with new ids and the same values otherwise, as many in a transaction as receiptd had in a batch. The bodies
        are sent with each row, as any client must; the statements are prepared. It reads nothing."""
        event, purchase, keys = (json.loads(line) for line in self.query(database, """
          SELECT row_to_json(e) FROM events e ORDER BY row_id DESC LIMIT 1;
          SELECT row_to_json(p) FROM purchases p
            WHERE row_id = (SELECT purchase_row FROM events ORDER BY row_id DESC LIMIT 1);
          SELECT round(count(*)::numeric / (SELECT count(*) FROM purchases)) FROM keys""").splitlines())
        (self.folder / "yardstick.sql").write_text("\n".join([
            "\\set base random(1000000000, 9000000000000) * 1000", "BEGIN;", insertion("purchases", purchase, batch),
            insertion("events", event, batch),
            "INSERT INTO keys (key, row) SELECT (random() * 9e18)::bigint, row "
            f"FROM generate_series(CAST(:base AS bigint) + 1, CAST(:base AS bigint) + {batch}) AS row, "
            f"generate_series(1, {keys});", "END;"]) + "\n")
        printed = self.run("pgbench", "-n", "-c", "1", "-j", "1", "-M", "prepared", "-T", str(seconds), "-D",
                           f"event_body={event['body']}", "-D", f"receipt_body={purchase['body']}", "-f", "yardstick.sql",
                           "-h", self.folder, "-p", "5432", "-U", "receiptd", database)
        return batch * next(float(line.split()[2]) for line in printed.splitlines() if line.startswith("tps"))


@contextlib.contextmanager
def server(has_standby):
    made = Server()
    try:
        made.make(has_standby)
        yield made
    finally:
        for process in made.processes:
            process.send_signal(signal.SIGQUIT)
            process.wait()
        shutil.rmtree(made.folder)


def value(table, column, sample, row):
    if column == ("purchase_row" if table == "events" else "row_id"):
        return f"CAST(:base AS bigint) + {row}"
    if column == "body":
        return f":{BODIES[table]}"
    known = sample[column]
    if column in IDS and known is not None:
        # As long as the original.
        length = max(8, len(known) - len(IDS[column]))
        text = "md5(random()::text)" if length <= 32 else "md5(random()::text) || md5(random()::text)"
        return f"'{IDS[column]}' || substr({text}, 1, {length})"
    if known is None:
        return "NULL"
    return str(known) if isinstance(known, int) else "'" + known.replace("'", "''") + "'"


def insertion(table, sample, batch):
    columns = [column for column in sample if (table, column) != ("events", "row_id")]
    rows = ["(" + ", ".join(value(table, column, sample, row) for column in columns) + ")" for row in range(1, batch + 1)]
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join(rows)};"
