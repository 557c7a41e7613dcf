"""A big database next to a small one of the same making: events a second, lists, one receipt, metrics, start-up."""

import http.client, shutil, statistics, time

import bigdata
import workload
from measure import ingest, reading, seeds, starting, table
from measure.programs import app, bare, configure, listed, receiptctl, receiptd, wrk
from measure.settings import CONNECTIONS, FOLDER, LONG_SECONDS, RATE_MAX, ROUNDS, ROWS, SECONDS, fail, say

SMALL, APPS = 2000, [workload.APP, "second", "third"]
REASONS = ["http_422", "http_400", "http_404", "gave_up", "price"]
DAYS = 20  # younger than what retention takes by default, so that it does not work on the side
LOAD_SECONDS = max(1, SECONDS // 2)
METRICS = 10  # reads of /metrics in each round


def parts(count):
    """Of `count` receipts a thousandth each is waiting, pending and cancelled, a hundredth failed (of 5 reasons); a
    small database has a page of each; the rest is delivered. Of the three apps the first has most."""
    rare, failed = max(60, count // 1000), max(600, count // 100)
    sizes = {"waiting": rare, "pending": rare, "cancelled": rare, "failed": failed,
             "delivered": count - 3 * rare - failed}
    apps = f"CASE n % 10 WHEN 3 THEN '{APPS[1]}' WHEN 7 THEN '{APPS[2]}' ELSE '{APPS[0]}' END"
    reasons = "CASE n / 10 % 5 " + " ".join(f"WHEN {at} THEN '{reason}'" for at, reason in enumerate(REASONS)) + " END"
    made = []
    for state, size in sizes.items():
        path = seeds.seed(state)
        until = seeds.moment_of(path)
        # Pending receipts are not due before tomorrow, and waiting ones have a day left, so that their states stay.
        tomorrow = str(until + 86_400_000)
        more = {"failed": {"reason": reasons}, "pending": {"next_attempt_at": tomorrow},
                "waiting": {"bought_at": tomorrow}}
        replaced = {"app": apps} | more.get(state, {})
        made.append((path, size, replaced, (until - DAYS * 86_400_000, until)))
    return made


def make(name, count, destination):
    """A folder with a database of `count` receipts with their events and attempts, and its configuration."""
    folder, began = FOLDER / name, time.monotonic()
    apps = {slug: app(destination.port) for slug in APPS}
    database = seeds.empty(folder, apps)
    bigdata.fill(database, parts(count), lambda text: say(f"  {name}: {text}, {time.monotonic() - began:.0f} s"))
    say(f"{name}: {count:,} receipts, {database.stat().st_size / 1e9:.2f} GB, made in {time.monotonic() - began:.0f} s")
    return folder, apps, configure(folder, apps)


class Timer:
    """The same query on both databases in turn; medians of the times in milliseconds."""

    def __init__(self):
        self.times = {}

    def ask(self, what, size, question):
        began = time.perf_counter()
        answer = question()
        self.add(what, size, (time.perf_counter() - began) * 1000)
        return answer

    def add(self, what, size, milliseconds):
        self.times.setdefault(what, {}).setdefault(size, []).append(milliseconds)

    def rows(self):
        for what, times in self.times.items():
            yield table.at_most(what, table.middle(times["big"]), table.middle(times["small"]), 2)


def lists(newest):
    """The filters of `receipts list`; a list is a page full unless one receipt alone can be meant."""
    states = {f"--state {state}": ["--state", state]
              for state in ("delivered", "failed", "waiting", "cancelled", "pending")}
    return {"": [], **states, "--app": ["--app", APPS[1]], "--reason": ["--reason", REASONS[0]],
            "--app --state": ["--app", APPS[1], "--state", "failed"],
            "--state --reason": ["--state", "failed", "--reason", REASONS[3]], "--since": ["--since", "3d"],
            "--until": ["--until", "10d"], "--since --state": ["--since", "10d", "--state", "failed"],
            "--user": ["--user", newest["user_id"]], "--object": ["--object", newest["object_id"]],
            "--import-id": ["--import-id", newest["import_id"]],
            "--user --state": ["--user", newest["user_id"], "--state", "delivered"]}


def read(timer, size, config, newest):
    for what, words in lists(newest).items():
        found = timer.ask(f"receipts list {what}".rstrip(), size,
                          lambda: receiptctl(config, "receipts", "list", *words, "--json")).count("\n")
        is_one = set(words) & {newest["user_id"], newest["object_id"], newest["import_id"]}
        wanted = 1 if is_one else 50
        if found != wanted:
            fail(f"`receipts list {' '.join(words)}` gave {found} receipts of {wanted}")
    shown = timer.ask("receipts show", size, lambda: receiptctl(config, "receipts", "show", newest["id"], "--json"))
    if newest["object_id"] not in shown or '"attempt_log":[{' not in shown.replace(" ", ""):
        fail(f"`receipts show` gave {shown[:500]}")


def metrics(timer, size, relay):
    def get():
        connection = http.client.HTTPConnection("127.0.0.1", relay.admin, timeout=60)
        connection.request("GET", "/metrics")
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return text if answer.status == 200 else ""
    if f'receiptd_receipts{{app="{APPS[0]}",state="delivered"}}' not in timer.ask("/metrics", size, get):
        fail("/metrics does not count the receipts")


def ingestion(folder, apps, first):
    """Events a second into a database that has rows already; these rows stay."""
    before = ingest.counts("events", folder / "receiptd.db")
    with receiptd(apps, folder) as relay:
        result = wrk("events", relay, LOAD_SECONDS, first)
    ingest.check("events", relay.database, result["answers"], CONNECTIONS, before)
    return result


def reads(made):
    """Everything that only reads, in turn from both. Gives the times, with those of starts, and what operators read."""
    timer, operators = Timer(), Timer()
    subjects = {size: reading.Subject(config, APPS) for size, (_, _, config) in made.items()}
    newest = {size: listed(config, "receipts", "list", "--state", "delivered", "--limit", "1")[0]
              for size, (_, _, config) in made.items()}
    for number in range(1, ROUNDS + 1):
        for size, (folder, apps, config) in made.items():
            read(timer, size, config, newest[size])
            reading.commands(operators, size, subjects[size])
            for _ in range(4):
                timer.add("start to ready", size, starting.start(config))
            with receiptd(apps, folder) as relay:
                for _ in range(METRICS):
                    metrics(timer, size, relay)
                reading.pages(operators, size, subjects[size], relay)
        say(f"big, round {number}: lists, receipts, metrics, pages and starts of both, all answers right")
    return timer, operators


def into_small(made):
    """Events a second into the small database, which is small each time."""
    seeds.copy(made["small"][0] / "receiptd.db", FOLDER / "copy")
    return ingestion(FOLDER / "copy", made["small"][1], 0)["rate"]


def writes(made):
    """Events a second in both; the big database goes on with its own rows."""
    rates, sent = {"small": [], "big": []}, 0
    for number in range(1, ROUNDS + 1):
        rates["small"].append(into_small(made))
        result = ingestion(*made["big"][:2], sent)
        rates["big"].append(result["rate"])
        sent += result["answers"] + CONNECTIONS
        say(f"big, round {number}: events into {ROWS:,} rows {rates['big'][-1]:,.0f}/s, "
            f"into {SMALL:,} {rates['small'][-1]:,.0f}/s")
    return rates


def long_writes(made, notes):
    """The same, but the big database is loaded for LONG_SECONDS with no pause but wrk's start; the small one before
    and after that."""
    if "events" not in ingest.rates:
        ingest.rates["events"] = into_small(made)
    ingest.write_records("events", int(1.5 * LONG_SECONDS * ingest.rates["events"]))
    small, big, answers, sent = [into_small(made) for _ in range(ROUNDS)], [], 0, 0
    folder, apps, _ = made["big"]
    before = ingest.counts("events", folder / "receiptd.db")
    with receiptd(apps, folder) as relay:
        while len(big) * SECONDS < LONG_SECONDS:
            result = wrk("events", relay, SECONDS, sent)
            big.append(result["rate"])
            answers, sent = answers + result["answers"], sent + result["answers"] + CONNECTIONS
    ingest.check("events", relay.database, answers, sent - answers, before)
    small += [into_small(made) for _ in range(ROUNDS)]
    each = ", ".join(f"{rate:,.0f}" for rate in big)
    notes.append(f"big: loaded for {LONG_SECONDS} s with {answers:,} events; the figure is the mean of the loads of "
                 f"{SECONDS} s, which had {each}/s")
    return {"small": small, "big": [statistics.fmean(big)]}


def big(notes):
    rate = min(RATE_MAX, 2 * ingest.rates.get("events", RATE_MAX))
    ingest.write_records("events", int(LOAD_SECONDS * ROUNDS * rate))
    with bare() as destination:
        made = {"small": make("small", SMALL, destination), "big": make("big", ROWS, destination)}
        timer, operators = reads(made)
        rates = long_writes(made, notes) if LONG_SECONDS else writes(made)
    shutil.rmtree(FOLDER / "big")
    rows = [table.at_least(f"events into {ROWS:,} receipts", table.middle(rates["big"]),
                           table.middle(rates["small"]), 0.9)]
    notes.append(f"big: {ROWS:,} receipts with an event and its attempts each; the limit is the same with {SMALL:,}")
    lists = [row for row in timer.rows() if "list" in row.what]
    notes += [f"  {row.what}: {row.ours}, {row.limit}" for row in lists]
    slowest = max(lists, key=lambda row: row.ratio)
    slowest.what = "  " + slowest.what + " (worst)"
    notes += reading.notes(operators)
    others = [row for row in timer.rows() if "list" not in row.what] + reading.rows(operators)
    for row in others:
        row.what = "  " + row.what
    return rows + [slowest] + others
