"""Events and contexts a second, each answered after it is on disk (closed loop), and the answer's p99 at half of that
rate (open loop)."""

import contextlib, sqlite3

import workload
from measure import table
from measure.programs import bare, pace, receiptd, wrk
from measure.settings import CONNECTIONS, FOLDER, RATE_MAX, ROUNDS, SECONDS, fail, say, sync_milliseconds

NAMES = {"events": "events, signed, 3 KB", "contexts": "contexts, with a key"}
rates = {}  # the medians, for the rows that go by them


def check(kind, database, answers, under_way, before=(0, 0)):
    """Every 2xx is in the database (R1), and every event is a receipt that is ready. wrk does not wait for the last
    answers, so what it had under way may be there as well: at most one request for each connection."""
    stored, receipts = (now - then for now, then in zip(counts(kind, database), before))
    if not answers <= stored <= answers + under_way:
        fail(f"{kind}: {answers} answers of 2xx, but {stored} rows; were {RATE_MAX} a second too few?")
    if kind == "events" and receipts != stored:
        fail(f"{stored} events, each a purchase of its own, made {receipts} receipts that are ready")


def counts(kind, database):
    with contextlib.closing(sqlite3.connect(database)) as store:
        return (store.execute(f"SELECT count(*) FROM {kind}").fetchone()[0],
                store.execute("SELECT count(*) FROM purchases WHERE state IN ('pending', 'delivered')").fetchone()[0])


def write_records(kind, count):
    """The records of a kind, prepared once for all rows."""
    path = FOLDER / f"{kind}.records"
    size = {"events": workload.EVENT, "contexts": workload.CONTEXT}[kind].bytes
    if path.exists() and path.stat().st_size >= count * size:
        return
    say(f"preparing {count:,} {kind}, each one new")
    {"events": workload.write_events, "contexts": workload.write_contexts}[kind](FOLDER, kind, count)


def load(kind, destination, seconds=SECONDS, row=None):
    with receiptd(destination.port, row=row) as relay:
        result = wrk(kind, relay, seconds)
    check(kind, relay.database, result["answers"], CONNECTIONS)
    return result


def throughput(kind, notes):
    write_records(kind, SECONDS * RATE_MAX)
    ours, limit = [], []
    with bare() as yardstick, bare() as destination:
        for number in range(1, ROUNDS + 1):
            limit.append(wrk(kind, yardstick))
            ours.append(load(kind, destination, row=kind))
            say(f"{kind}, round {number}: receiptd {ours[-1]['rate']:,.0f}/s, all of it stored; "
                f"bare {limit[-1]['rate']:,.0f}/s")
    of = lambda results, key: table.middle(result[key] for result in results)
    rates[kind] = of(ours, "rate")
    notes.append(f"{kind}: receiptd p50 {of(ours, 'p50_ms'):.2f} ms, p99 {of(ours, 'p99_ms'):.2f} ms, "
                 f"CPU {of(ours, 'cpu_us'):.1f} µs each; bare p50 {of(limit, 'p50_ms'):.2f} ms, "
                 f"p99 {of(limit, 'p99_ms'):.2f} ms, CPU {of(limit, 'cpu_us'):.1f} µs")
    return [table.at_least(NAMES[kind], rates[kind], of(limit, "rate"), 0.5)]


def events(notes):
    return throughput("events", notes)


def contexts(notes):
    return throughput("contexts", notes)


def p99(notes):
    write_records("events", SECONDS * RATE_MAX)
    ours, limit, sync = [], [], sync_milliseconds()
    with bare() as yardstick, bare() as destination:
        if "events" not in rates:
            rates["events"] = load("events", destination)["rate"]
        rate = int(rates["events"] / 2)
        for number in range(1, ROUNDS + 1):
            limit.append(pace("events", yardstick, rate, rate * SECONDS))
            with receiptd(destination.port, row="p99") as relay:
                ours.append(pace("events", relay, rate, rate * SECONDS))
            check("events", relay.database, rate * SECONDS, 0)
            say(f"p99, round {number}, {rate:,}/s: receiptd {ours[-1]['p99_ms']:.2f} ms, "
                f"bare {limit[-1]['p99_ms']:.2f} ms")
    of = lambda results, key: table.middle(result[key] for result in results)
    for key in ("p50_ms", "p90_ms", "max_ms"):
        notes.append(f"p99: at {rate:,}/s {key[:-3]} is {of(ours, key):.2f} ms, bare's {of(limit, key):.2f} ms")
    mine, theirs = of(ours, "p99_ms"), of(limit, "p99_ms")
    return [table.Row(f"p99 at half of that, {rate:,}/s", f"{mine:.2f} ms", f"{theirs:.2f} ms", mine / theirs,
                      f"≤ 3 × + a sync: {3 * theirs + sync:.2f} ms", mine <= 3 * theirs + sync)]
