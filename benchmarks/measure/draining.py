"""Deliveries a second while many due receipts drain into a local destination, next to h2load, which posts
as many equal bodies as fast as they are answered."""

import contextlib, shutil, sqlite3, subprocess, time

import workload
from measure import seeds, table
from measure.programs import FAST, app, arrivals, bare, memory, object_of, receiptd, wait_for_arrivals
from measure.settings import CONNECTIONS, FOLDER, RECEIPTS, REST_SECONDS, ROUNDS, fail, say

KEPT = FOLDER / "drain.kept"
resting = []  # receiptd's memory in KiB some seconds after a drain


def speed(found):
    """Arrivals a second between the first and the last, after it is sure that each came once."""
    objects = {object_of(body) for _, body in found}
    if len(found) != RECEIPTS or len(objects) != RECEIPTS:
        fail(f"{len(found)} arrivals of {len(objects)} receipts, where {RECEIPTS} were to arrive once each")
    return rate(found)


def rate(found):
    return (len(found) - 1) * 1e9 / (found[-1][0] - found[0][0])


def check(database):
    with contextlib.closing(sqlite3.connect(database)) as store:
        states = dict(store.execute("SELECT state, count(*) FROM purchases GROUP BY state"))
    if states != {"delivered": RECEIPTS}:
        fail(f"all {RECEIPTS} receipts arrived, but the database has {states}")


def drain(template, is_last):
    folder = FOLDER / "receiptd"
    seeds.copy(template, folder)
    with bare(KEPT) as destination:
        with receiptd({workload.APP: app(destination.port, **FAST)}, folder, row="drain") as relay:
            wait_for_arrivals(destination, RECEIPTS, 60)
            if is_last:
                time.sleep(REST_SECONDS)
                resting.append(memory(relay, "VmRSS"))
    check(relay.database)
    return arrivals(KEPT)


def bare_drain(body):
    """Deliveries a second of a client that only sends."""
    with bare(KEPT) as destination:
        done = subprocess.run(["h2load", "--h1", "-n", str(RECEIPTS), "-c", str(CONNECTIONS), "-m", "1", "-d", body,
                               "-H", "Content-Type: application/json", f"http://127.0.0.1:{destination.port}/receipts"],
                              capture_output=True, text=True)
    if done.returncode or f" {RECEIPTS} 2xx" not in done.stdout:
        fail(f"h2load failed: {done.stdout}{done.stderr}")
    return rate(arrivals(KEPT))


def deliveries(notes):
    say(f"preparing {RECEIPTS:,} due receipts")
    template, body = seeds.due(FOLDER / "due", RECEIPTS), FOLDER / "body"
    ours, limit = [], []
    for number in range(1, ROUNDS + 1):
        found = drain(template, is_last=number == ROUNDS)
        ours.append(speed(found))
        if number == 1:
            body.write_bytes(found[0][1])
        limit.append(bare_drain(body))
        say(f"drain, round {number}: receiptd {ours[-1]:,.0f}/s, each arrived once; h2load {limit[-1]:,.0f}/s")
    shutil.rmtree(FOLDER / "due")
    notes.append(f"drain: {RECEIPTS:,} receipts, {CONNECTIONS} at a time in both")
    return [table.at_least("deliveries, draining", table.middle(ours), table.middle(limit), 0.6)]
