"""Events and contexts a second, each answered after it is on disk (closed loop), and the answer's p99 at half of that
rate (open loop)."""

import contextlib, sqlite3

import workload
from measure import seeds, table, work
from measure.programs import append, bare, pace, receiptd, wrk
from measure.settings import CONNECTIONS, FOLDER, RATE_MAX, ROUNDS, SECONDS, fail, say, sync_milliseconds

NAMES = {"events": "events, signed, 3 KB", "contexts": "contexts, with a key"}
GOALS = {"events": 0.75, "contexts": 1}  # of `append`
rates = {}  # the medians, for the rows that go by them


def check(kind, database, answers, under_way, before=(0, 0)):
    """Every 2xx is in the database (R1), and every event is a receipt that is ready. wrk does not wait for the last
    answers, so requests that were under way may be there as well: at most one for each connection."""
    stored, receipts = (now - then for now, then in zip(counts(kind, database), before))
    check_count(kind, stored, answers, under_way)
    if kind == "events" and receipts != stored:
        fail(f"{stored} events, each a new purchase, made {receipts} receipts that are ready")


def check_count(kind, stored, answers, under_way):
    if not answers <= stored <= answers + under_way:
        fail(f"{kind}: {answers} answers of 2xx, but {stored} rows; were {RATE_MAX} a second too few?")


def counts(kind, database):
    return (count(database, kind), count(database, "purchases WHERE state IN ('pending', 'delivered')"))


def count(database, rows):
    with contextlib.closing(sqlite3.connect(database)) as store:
        return store.execute(f"SELECT count(*) FROM {rows}").fetchone()[0]


def write_records(kind, count):
    """The records of a kind, prepared once for all rows."""
    path = FOLDER / f"{kind}.records"
    size = {"events": workload.EVENT, "contexts": workload.CONTEXT}[kind].bytes
    if path.exists() and path.stat().st_size >= count * size:
        return
    say(f"preparing {count:,} {kind}, each one new")
    {"events": workload.write_events, "contexts": workload.write_contexts}[kind](FOLDER, kind, count)


@contextlib.contextmanager
def filled(destination, row):
    """receiptd on a database that has few rows. Gives its process, with `before`, the counts of what
    is there already."""
    folder = FOLDER / "receiptd"
    seeds.copy(seeds.filled(), folder)
    with receiptd(destination.port, folder, row=row) as relay:
        relay.before = {kind: counts(kind, relay.database) for kind in NAMES}
        yield relay


def load(kind, destination, seconds=SECONDS, row=None):
    with filled(destination, row) as relay:
        done = work.Work(relay)
        result = wrk(kind, relay, seconds)
        done.end(result["answers"])
    check(kind, relay.database, result["answers"], CONNECTIONS, relay.before[kind])
    return result | {"work": done}


def yardstick(kind):
    """One round for the least that storing costs; all requests are stored."""
    with append() as server:
        result = wrk(kind, server)
    check_count("append", count(server.database, kind), result["answers"], CONNECTIONS)
    return result


def middle(results, key):
    return table.middle(result[key] for result in results)


def described(name, results):
    return (f"{name} p50 {middle(results, 'p50_ms'):.2f} ms, p99 {middle(results, 'p99_ms'):.2f} ms, "
            f"CPU {middle(results, 'cpu_us'):.1f} µs each")


def throughput(kind, notes):
    """Each round has the limits and receiptd, one after the other."""
    write_records(kind, SECONDS * RATE_MAX)
    results = {"bare": [], "append": [], "receiptd": []}
    with bare() as limit, bare() as destination:
        for number in range(1, ROUNDS + 1):
            results["bare"].append(wrk(kind, limit))
            results["append"].append(yardstick(kind))
            results["receiptd"].append(load(kind, destination, row=kind))
            rates_now = ", ".join(f"{name} {found[-1]['rate']:,.0f}/s" for name, found in results.items())
            say(f"{kind}, round {number}: {rates_now}, all of it stored")
    rates[kind] = middle(results["receiptd"], "rate")
    notes += [f"{kind}: {described(name, found)}" for name, found in results.items()]
    done = [result["work"] for result in results["receiptd"]]
    notes += work.lines(kind, done)
    rows = [table.at_least(f"{NAMES[kind]}, of append in C", rates[kind], middle(results["append"], "rate"), GOALS[kind]),
            table.at_least("  the same, of the bare server", rates[kind], middle(results["bare"], "rate"), None)]
    return rows + ([work.written_row(kind, done, 6)] if kind == "events" else [])


def events(notes):
    return throughput("events", notes)


def contexts(notes):
    return throughput("contexts", notes)


def p99(notes):
    write_records("events", SECONDS * RATE_MAX)
    found, sync = {"bare": [], "append": [], "receiptd": []}, sync_milliseconds()
    with bare() as yardstick, bare() as destination:
        if "events" not in rates:
            rates["events"] = load("events", destination)["rate"]
        rate = int(rates["events"] / 2)
        for number in range(1, ROUNDS + 1):
            found["bare"].append(pace("events", yardstick, rate, rate * SECONDS))
            with append() as server:
                found["append"].append(pace("events", server, rate, rate * SECONDS))
            check_count("append", count(server.database, "events"), rate * SECONDS, 0)
            with filled(destination, "p99") as relay:
                found["receiptd"].append(pace("events", relay, rate, rate * SECONDS))
            check("events", relay.database, rate * SECONDS, 0, relay.before["events"])
            say(f"p99, round {number}, {rate:,}/s: " +
                ", ".join(f"{name} {results[-1]['p99_ms']:.2f} ms" for name, results in found.items()))
    for key in ("p50_ms", "p90_ms", "max_ms"):
        each = ", ".join(f"{name} {middle(results, key):.2f} ms" for name, results in found.items())
        notes.append(f"p99: at {rate:,}/s {key[:-3]} is {each}")
    mine, theirs, bound = middle(found["receiptd"], "p99_ms"), middle(found["bare"], "p99_ms"), 3 * sync + 1
    return [table.Row(f"p99 at half of that, {rate:,}/s", f"{mine:.2f} ms", f"{theirs:.2f} ms", mine / theirs,
                      f"≤ 3 syncs of 4 KiB + 1 ms: {bound:.2f} ms", mine <= bound)]
