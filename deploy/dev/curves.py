"""Watches a running receiptd while something loads it, and says whether what it needs levels off.

Samples /proc, the files and /metrics until the load has ended; prints about twenty rows of numbers;
exits 1 when a curve still climbs. A curve that had no time to level off is not judged, and the last line says so.
Called by deploy/dev/soak.
"""

import argparse
import contextlib
import os
import sqlite3
import sys
import time
import urllib.request

# name, unit of the numbers, the difference between two quarters of the time that does not count as growth, and
# whether the curve climbs until retention deletes as much as arrives
CURVES = [
    ("memory", "MiB", 2.0, True),
    ("descriptors", "", 4.0, False),
    ("database", "MiB", 1.0, True),
    ("log", "MiB", 4.0, True),
    ("delivered", "receipts", 0.0, True),
    ("pending", "receipts", 50.0, False),
]
# Growth is counted from the third quarter to the fourth: before that the caches fill and retention deletes nothing.
SHARE_ALLOWED = 0.05
ROWS = 20


def sizes(path):
    try:
        return os.stat(path).st_size / 2**20
    except FileNotFoundError:
        return 0.0


def remembered(path):
    """The size in MiB of the ids of deleted purchases. receiptd keeps them for 30 days, so they grow for as long as any
    soak lasts, and with nothing but the number of purchases."""
    names = "'past_purchases', 'past_purchases_by_object', 'past_purchases_until'"
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10)) as store:
        # https://www.sqlite.org/dbstat.html
        found = store.execute(f"SELECT total(pgsize) FROM dbstat WHERE name IN ({names})").fetchone()[0]
    return found / 2**20


def states(url):
    counts = {}
    for line in urllib.request.urlopen(url, timeout=10).read().decode().splitlines():
        if line.startswith("receiptd_receipts{"):
            state = line.split('state="')[1].split('"')[0]
            counts[state] = counts.get(state, 0.0) + float(line.rsplit(" ", 1)[1])
    return counts


def sample(arguments, start):
    process = f"/proc/{arguments.process}"
    with open(f"{process}/status", encoding="ascii") as file:
        resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
    counts = states(arguments.metrics)
    return {
        "seconds": time.monotonic() - start,
        "memory": resident / 1024,
        "descriptors": float(len(os.listdir(f"{process}/fd"))),
        "database": max(0.0, sizes(arguments.database) - remembered(arguments.database)),
        "log": sizes(arguments.database + "-wal"),
        "delivered": counts.get("delivered", 0.0),
        "pending": counts.get("pending", 0.0) + counts.get("waiting", 0.0),
        "failed": counts.get("failed", 0.0),
    }


def is_running(process):
    """Whether it runs; one that has ended and was not waited for yet does not."""
    try:
        with open(f"/proc/{process}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def watch(arguments):
    start, samples = time.monotonic(), []
    interval = max(1.0, arguments.seconds / 300)
    while is_running(arguments.load):
        samples.append(sample(arguments, start))
        time.sleep(max(0.0, start + len(samples) * interval - time.monotonic()))
    return samples


def mean(samples, name):
    return sum(sample[name] for sample in samples) / len(samples)


def highest(samples, name):
    return max(sample[name] for sample in samples)


def table(samples):
    names = ["seconds"] + [name for name, *_ in CURVES] + ["failed"]
    print("".join(f"{name:>13}" for name in names))
    step = max(1, -(-len(samples) // ROWS))
    for row in samples[::step]:
        print("".join(f"{row[name]:13.1f}" for name in names))


def judge(samples, settled_after):
    """Prints how each curve ends; returns the names of those that climb, and of those that were not judged."""
    quarter = len(samples) // 4
    third, fourth = samples[2 * quarter : 3 * quarter], samples[3 * quarter :]
    climbing, open_ones, rows = [], [], []
    for name, unit, floor, needs_retention in CURVES:
        # Retention makes such a curve fall at each of its passes, like a saw: compare its peaks, because a mean
        # depends on the number of teeth in a quarter.
        level = highest if needs_retention else mean
        before, after = level(third, name), level(fourth, name)
        allowed = max(floor, SHARE_ALLOWED * before)
        if needs_retention and third[0]["seconds"] < settled_after:
            verdict = "not judged"
            open_ones.append(name)
        elif after - before <= allowed:
            verdict = "levels off"
        else:
            verdict = "STILL CLIMBS"
            climbing.append(name)
        print(f"{name:12} {before:10.1f} -> {after:10.1f} {unit:9} allowed +{allowed:.1f}: {verdict}")
        rows.append(f"| {name} | {unit} | {before:,.1f} | {after:,.1f} | {highest(samples, name):,.1f} | {verdict} |")
    return climbing, open_ones, rows


def write_figures(path, title, rows):
    """The rows that docs/reliability.md has (deploy/dev/figures)."""
    head = ["| curve | unit | third quarter | last quarter | highest | |", "|---|---|---|---|---|---|"]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join([title, ""] + head + rows) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--process", type=int, required=True)
    parser.add_argument("--load", type=int, required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--metrics", required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--settled-after", type=float, required=True, help="seconds until retention deletes")
    parser.add_argument("--figures", required=True)
    parser.add_argument("--title", required=True)
    arguments = parser.parse_args()
    samples = watch(arguments)
    if len(samples) < 8:
        print("soak: too short: nothing was judged")
        return
    table(samples)
    climbing, open_ones, rows = judge(samples, arguments.settled_after)
    if not open_ones:
        write_figures(arguments.figures, arguments.title, rows)
    if climbing:
        sys.exit(f"soak: {', '.join(climbing)} still climbing; see above")
    if open_ones:
        minutes = -(-2 * arguments.settled_after // 60) + 1
        print(
            f"soak: too short to judge {', '.join(open_ones)}: retention had deleted nothing yet. "
            f"MINUTES={minutes:.0f} or more judges them. What was judged levels off."
        )
    else:
        print("soak: everything levels off")


if __name__ == "__main__":
    main()
