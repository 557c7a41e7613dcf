"""Memory under load and at rest, and the wake-ups and CPU time of an idle daemon."""

import os, time

from measure import draining, ingest, table
from measure.programs import FAST, app, bare, cpu_seconds, memory, pace, peaks, receiptd, switches, wait_for_arrivals
from measure.settings import FOLDER, IDLE_SECONDS, RATE_MAX, REST_SECONDS, SECONDS
import workload

TICK = 100 / (IDLE_SECONDS * os.sysconf("SC_CLK_TCK"))  # the least that differs from 0 %
LOADS = ("events", "contexts", "p99", "drain")


def under_load(notes):
    """The highest of the rows above; without them, of one round of events and of contexts."""
    if not peaks:
        with bare() as destination:
            for kind in ("events", "contexts"):
                ingest.write_records(kind, SECONDS * RATE_MAX)
                ingest.load(kind, destination, row=kind)
    each = ", ".join(f"{row} {peaks[row] / 1024:.1f}" for row in LOADS if row in peaks)
    notes.append(f"memory: highest under {each} MiB")
    return [table.bounded("memory, highest under load", max(peaks.values()) / 1024, 32, "{:.1f} MiB")]


def at_rest(notes):
    """A daemon that has delivered one receipt, and then has nothing to do."""
    ingest.write_records("events", 1)
    kept = FOLDER / "rest.kept"
    with bare(kept) as destination, receiptd({workload.APP: app(destination.port, **FAST)}) as relay:
        time.sleep(1)
        fresh = memory(relay, "VmRSS") / 1024
        pace("events", relay, 10, 1, connections=1)
        wait_for_arrivals(destination, 1, 10)
        time.sleep(REST_SECONDS)
        before = switches(relay), cpu_seconds(relay)
        time.sleep(IDLE_SECONDS)
        # One tick is a difference of two sums of ticks: it must not be a little more than one.
        wakes, cpu = (round(now - then, 6) for now, then in zip((switches(relay), cpu_seconds(relay)), before))
    rows = [table.bounded("memory, after the start", fresh, 20, "{:.1f} MiB")]
    if draining.resting:
        drained = table.middle(draining.resting) / 1024
        rows.append(table.bounded(f"memory, {REST_SECONDS} s after a drain", drained, 20, "{:.1f} MiB"))
    return rows + [table.bounded("idle: wake-ups", wakes / IDLE_SECONDS, 2, "{:.2f}/s"),
                   table.bounded("idle: CPU", cpu / IDLE_SECONDS * 100, TICK, "{:.2f} %")]
