"""The tables of `benchmarks/relays`: `row FOLDER FIGURES` checks and keeps the figures of one load, and `end FOLDER` prints
what was kept as docs/scaling.md has it."""

import json, math, pathlib, re, sys

COLUMNS = ("relays", "apps", "slower by", "events stored", "p50", "p99", "stored and delivered", "commands in a batch",
           "CPU of the relays, µs", "CPU of PostgreSQL, µs", "WAL, bytes", "database, bytes", "commits")
# Of the cost model: how much higher the peak is than the mean, and how busy the CPUs may be then.
PEAK, USE = 5, 0.5
# CPUs of a relay, and the most that one database has: CPUs, and MB/s of WAL, which a link of 1 Gbit/s carries to a standby.
RELAY, SERVER, WAL_MAX = 4, 32, 100


def row(folder, delivers, *words):
    relays, apps, delay, batch, stored, took, cpu, server_cpu, wal, size, commits = map(int, words)
    loads = [json.loads(re.search("@RESULT@(.*)", (folder / f"wrk-{number + 1}.txt").read_text())[1])
             for number in range(relays)]
    answers = sum(load["answers"] for load in loads)
    if any(load["refused"] or load["broken"] for load in loads):
        sys.exit(f"not every request was answered with 2xx: {loads}")
    if not answers <= stored <= answers + 64:
        sys.exit(f"{answers} events were answered with 2xx, but {stored} receipts are delivered")
    rate, delivered = sum(load["answers"] / load["seconds"] for load in loads), stored / took * 1000
    if delivers == "0":
        with open(folder / "goals.jsonl", "a") as goals:
            print(json.dumps({"stored_only": rate}), file=goals)
        return
    cells = [relays, apps, f"{delay} ms" if delay else "", f"{rate:,.0f}/s", f"{max(load['p50_ms'] for load in loads):.1f} ms",
             f"{max(load['p99_ms'] for load in loads):.1f} ms", f"{delivered:,.0f}/s", batch, f"{cpu / stored:.0f}",
             f"{server_cpu / stored:.0f}", f"{wal / stored:,.0f}", f"{size / stored:,.0f}", f"{commits / stored:.2f}"]
    with open(folder / "rows.md", "a") as rows:
        rows.write("| " + " | ".join(map(str, cells)) + " |\n")
    if relays == 1:
        cost = [part / stored for part in (cpu, server_cpu, wal, size)]
        with open(folder / "goals.jsonl", "a") as goals:
            print(json.dumps({"apps": apps, "delay": delay, "stored": rate, "delivered": delivered, "cost": cost}), file=goals)


def table(*columns):
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))


def amount(apps):
    return "one app" if apps == 1 else f"{apps} apps"


def goals(one, stored_only, pgbench):
    def goal(what, ours, goal, limit=None):
        share = f"{limit:,.0f}/s | {ours / limit:.2f}" if limit else " | "
        print(f"| {what} | {ours:,.0f}/s | {share} | {goal} |")

    print(f"\nOne relay and {amount(one[0]['apps'])}, beside pgbench with one client that inserts such rows, {pgbench['batch']} "
          "events in each transaction:\n")
    table("what", "receiptd", "pgbench", "ratio", "goal")
    goal("events stored", stored_only["stored_only"], "≥ 0.50", pgbench["pgbench"])
    goal("events stored, while receipts are delivered", one[0]["stored"], "≥ 2,000/s", pgbench["pgbench"])
    goal("receipts stored and delivered", one[0]["delivered"], "≥ 2,000/s")
    if 2 in one:
        goal("events stored, each round trip 2 ms longer", one[2]["stored"], "≥ 1,000/s")


def costs(apps, cost):
    relay_cpu, server_cpu, wal, size = cost
    print(f"\nThe model with the figures of one relay and {amount(apps)}, the peak {PEAK} times the mean, and the CPUs busy for "
          f"{USE:.0%} of the time then. A relay has {RELAY} CPUs, and one relay of each database may be lost; a database has at most "
          f"{SERVER} CPUs, and {WAL_MAX} MB/s of WAL, which a link of 1 Gbit/s carries to its standby:\n")
    table("receipts a day", "a second, mean", "at the peak", "CPUs for relays", "CPUs for PostgreSQL", "WAL at the peak",
          "database for 30 days", "databases", "relays")
    for exponent, name in ((6, "10⁶"), (8, "10⁸"), (9, "10⁹")):
        mean = 10**exponent / 86_400
        cpus = [mean * PEAK * each / 1e6 / USE for each in (relay_cpu, server_cpu)]
        log = mean * PEAK * wal / 1e6
        databases = math.ceil(max(cpus[1] / SERVER, log / WAL_MAX))
        relays = math.ceil(cpus[0] / RELAY / databases + 1) * databases
        print(f"| {name} | {mean:,.0f} | {mean * PEAK:,.0f} | {cpus[0]:,.2f} | {cpus[1]:,.2f} | {log:,.1f} MB/s | "
              f"{10**exponent * size * 30 / 1e9:,.0f} GB | {databases} | {relays} |")


def end(folder):
    table(*COLUMNS)
    print((folder / "rows.md").read_text(), end="")
    kept = folder / "goals.jsonl"
    lines = [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []
    loads = [line for line in lines if "apps" in line]
    if not loads:
        return
    pgbench = next((line for line in lines if "pgbench" in line), None)
    least = min(line["apps"] for line in loads)
    if pgbench:
        stored_only = next(line for line in lines if "stored_only" in line)
        goals({line["delay"]: line for line in loads if line["apps"] == least}, stored_only, pgbench)
    most = max((line for line in loads if not line["delay"]), key=lambda line: line["apps"])
    costs(most["apps"], most["cost"])


what, folder, *figures = sys.argv[1:]
{"row": row, "end": end}[what](pathlib.Path(folder), *figures)
