"""What a delivered receipt takes on the disk: the size of the database after many checkouts from the context to the
delivery, divided by them."""

import contextlib, sqlite3

import workload
from measure import seeds, table
from measure.programs import FAST, app, bare, pace, receiptd, wait_for_arrivals
from measure.settings import FOLDER, RECEIPTS, fail, say

RATE = 4000
KEPT = FOLDER / "sizing.kept"


def query(database, sql):
    with contextlib.closing(sqlite3.connect(database)) as store:
        return store.execute(sql).fetchall()


def check(database):
    """Each checkout has one of everything that it is said to consist of."""
    found = query(database, """
      SELECT (SELECT count(*) FROM purchases WHERE state = 'delivered'), (SELECT count(*) FROM events),
             (SELECT count(*) FROM attempts), (SELECT count(*) FROM contexts WHERE purchase_row IS NOT NULL)""")[0]
    if found != (seeds.SAMPLES + RECEIPTS,) * 3 + (RECEIPTS,):
        fail(f"delivered receipts, events, attempts and used contexts are {found}, instead of {RECEIPTS} each and "
             f"{seeds.SAMPLES} of the first three")
    if (log := database.with_name(database.name + "-wal")).exists() and log.stat().st_size:
        fail("the database's log is not empty after a clean end")


def parts(database):
    """Bytes of each table and index (https://www.sqlite.org/dbstat.html)."""
    return dict(query(database, "SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))


def size(notes):
    say(f"preparing {RECEIPTS:,} contexts and their events")
    users = workload.random_users(RECEIPTS)
    workload.write_contexts(FOLDER, "sizing-contexts", RECEIPTS, users)
    workload.write_events(FOLDER, "sizing-events", RECEIPTS, users=users)
    folder = FOLDER / "receiptd"
    seeds.copy(seeds.filled(), folder)
    first = folder / "receiptd.db"
    size_before, parts_before = first.stat().st_size, parts(first)
    with bare(KEPT) as destination, receiptd({workload.APP: app(destination.port, **FAST)}, folder) as relay:
        pace("sizing-contexts", relay, RATE, RECEIPTS)
        pace("sizing-events", relay, RATE, RECEIPTS)
        wait_for_arrivals(destination, RECEIPTS, 60)
    check(relay.database)
    each = (relay.database.stat().st_size - size_before) / RECEIPTS
    grown = {name: (size - parts_before.get(name, 0)) / RECEIPTS for name, size in parts(relay.database).items()}
    most = sorted((name for name in grown if grown[name] >= 1), key=grown.get, reverse=True)
    say(f"size: {RECEIPTS:,} receipts, each with its context, event and attempt, {each:,.0f} bytes each")
    notes.append(f"size: bytes for each of {RECEIPTS:,} receipts: " +
                 ", ".join(f"{name} {grown[name]:,.0f}" for name in most))
    return [table.bounded("database, for each delivered receipt", each / 1024, 1.2, "{:.2f} KiB")]
