"""Whether retention slows ingestion: events a second while the receipts of one day are deleted, next to the same
database with nothing to delete."""

import shutil, time

import bigdata
import workload
from measure import ingest, seeds, table
from measure.programs import app, bare, receiptd, wrk
from measure.settings import CONNECTIONS, FOLDER, RATE_MAX, ROUNDS, ROWS, SECONDS, TINY, say

OLD = ROWS // 100  # receipts of the day that ends, with their events and attempts
DAY, KINDS = 86_400_000, ("contexts", "events", "attempts", "receipts")
AGES = {"at work": {kind: "40d" for kind in KINDS}, "nothing to delete": {kind: "36500d" for kind in KINDS}}
LOAD_SECONDS = max(1, SECONDS // 2)
# Loads in a round: with nothing to delete, and at most while retention is at work.
LOADS, LOADS_MAX = (1, 3) if TINY else (2, 40)
TEMPLATE = FOLDER / "retaining"
MOMENTS = {"events": "received_at", "purchases": "first_seen_at"}


def make(destination):
    """A database whose receipts were all delivered 41 days ago. Gives its path and its apps."""
    path, apps = seeds.seed("delivered"), {workload.APP: app(destination.port)}
    until = seeds.moment_of(path) - 41 * DAY
    database = seeds.empty(TEMPLATE, apps)
    bigdata.fill(database, [(path, OLD, {}, (until - DAY, until))])
    return database, apps


def old_rows(database):
    """How many of the old events and receipts are left. New rows may have the numbers of deleted ones, so only their
    times tell them apart."""
    yesterday = int(time.time() * 1000) - DAY
    return tuple(ingest.count(database, f"{name} WHERE {moment} < {yesterday}") for name, moment in MOMENTS.items())


def rates(template, apps, what):
    """Events a second, in one load after the other: while old receipts are left, or LOADS times."""
    folder, found, sent, answers = FOLDER / "receiptd", [], 0, 0
    seeds.copy(template, folder)
    with receiptd(apps, folder, retention=AGES[what]) as relay:
        while len(found) < LOADS or (what == "at work" and len(found) < LOADS_MAX
                                     and any(old_rows(relay.database))):
            result = wrk("events", relay, LOAD_SECONDS, sent)
            found.append(result["rate"])
            answers, sent = answers + result["answers"], sent + result["answers"] + CONNECTIONS
    ingest.check("events", relay.database, answers, sent - answers, old_rows(relay.database))
    return found


def retention(notes):
    say(f"preparing {OLD:,} receipts of one day, 41 days ago")
    rate = min(RATE_MAX, 2 * ingest.rates.get("events", RATE_MAX / 4))
    ingest.write_records("events", int(LOAD_SECONDS * LOADS_MAX * rate))
    found = {what: [] for what in AGES}
    with bare() as destination:
        template, apps = make(destination)
        for number in range(1, ROUNDS + 1):
            for what in AGES:
                found[what].append(rates(template, apps, what))
            say(f"retention, round {number}, events a second in loads of {LOAD_SECONDS} s: " + "; ".join(
                f"{what} {', '.join(f'{rate:,.0f}' for rate in runs[-1])}" for what, runs in found.items()))
    shutil.rmtree(TEMPLATE)
    # Retention goes through the tables in the same order in each round, so a dent is in the same load; what disturbs one
    # round is not.
    loads = [table.middle(rates) for rates in zip(*found["at work"])]
    each = ", ".join(f"{rate:,.0f}" for rate in loads)
    notes.append(f"retention: {OLD:,} receipts with their events and attempts were deleted in {len(loads) * LOAD_SECONDS} s; "
                 f"the loads of {LOAD_SECONDS} s had {each}/s, and the figure is the slowest")
    return [table.at_least("events while retention is at work", min(loads),
                           table.middle(table.middle(run) for run in found["nothing to delete"]), 0.8)]
