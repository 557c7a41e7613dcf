"""Many apps, one of them with many due receipts: whether a dead destination of that one delays the others' receipts."""

import contextlib, shutil, socket, threading

import workload
from measure import delay, seeds, table
from measure.programs import app, bare, pace, receiptd, wait_for_arrivals
from measure.settings import APPS, FOLDER, RECEIPTS, ROUNDS, SECONDS, say

RATE = 200  # events a second to all the others together
LOAD_SECONDS = max(2, SECONDS // 2)
KEPT, TIMES = FOLDER / "apps.kept", FOLDER / "apps.times"


def slug(number):
    return f"app-{number:03d}"


@contextlib.contextmanager
def black_hole():
    """A destination that accepts connections and never answers. Returns its port."""
    taken = []
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as ear:
        def take():
            with contextlib.suppress(OSError):
                while True:
                    taken.append(ear.accept()[0])
        threading.Thread(target=take, daemon=True).start()
        yield ear.getsockname()[1]
        ear.shutdown(socket.SHUT_RDWR)
    for connection in taken:
        connection.close()


# The behaviour of the first app's destination. Its breaker would soon open and end the attempts for a while; the
# configuration prevents that, so that attempts continue at the default rate.
DEAD = {"refused": seeds.closed_port, "black hole": black_hole}
STUBBORN = {"delivery": {"breaker": {"failures": 1_000_000}}}


def latencies(template, dead_port, first):
    """Milliseconds from the 200 to the arrival, for each receipt of the others."""
    count = RATE * LOAD_SECONDS
    folder = FOLDER / "receiptd"
    seeds.copy(template, folder)
    with bare(KEPT) as destination:
        apps = {slug(number): app(destination.port) for number in range(1, APPS)}
        if dead_port:  # else it is not configured, and its receipts lie still
            apps[slug(0)] = app(dead_port, **STUBBORN)
        with receiptd(apps, folder) as relay:
            pace("apps", relay, RATE, count, first, connections=16, times=TIMES)
            wait_for_arrivals(destination, count, 30)
    return delay.delays(KEPT, delay.answered(TIMES, "apps", first, count))


def share(values, part):
    return sorted(values)[int(len(values) * part)]


def apart(notes):
    say(f"preparing {RECEIPTS:,} due receipts of one app")
    template = seeds.due(FOLDER / "due", RECEIPTS, slug(0))
    workload.write_events(FOLDER, "apps", 3 * ROUNDS * RATE * LOAD_SECONDS, "/v1/app-@app@/webhooks/stripe",
                          apps=APPS - 1)
    found = {"all well": [], **{name: [] for name in DEAD}}
    first = 0
    for number in range(1, ROUNDS + 1):
        for name in found:
            with DEAD[name]() if name in DEAD else contextlib.nullcontext() as port:
                found[name].append(latencies(template, port, first))
            first += RATE * LOAD_SECONDS
        say(f"apps, round {number}: " + "; ".join(
            f"{name} p50 {share(runs[-1], 0.5):.2f} ms, p99 {share(runs[-1], 0.99):.2f} ms"
            for name, runs in found.items()))
    shutil.rmtree(FOLDER / "due")
    rows = []
    for name in DEAD:
        for part in (0.5, 0.99):
            ours, well = ([share(run, part) for run in found[which]] for which in (name, "all well"))
            rows.append(compared(name, part, ours, well))
    notes.append(f"apps: {APPS - 1} apps get {RATE} events a second together; the other one has {RECEIPTS:,} due; "
                 "the limit is the same without that one, and what its rounds differ by is noise")
    return rows


def compared(name, part, ours, well):
    """Unchanged means: at most a tenth above, plus the difference among the undisturbed rounds (twice
    the median deviation from their median, so that one disturbed round does not allow everything)."""
    mine, limit = table.middle(ours), table.middle(well)
    allowed = 1.1 * limit + 2 * table.middle(abs(value - limit) for value in well)
    return table.Row(f"{APPS} apps, one {name}: p{part * 100:.0f}", f"{mine:.2f} ms", f"{limit:.2f} ms", mine / limit,
                     f"within noise: {allowed:.2f} ms", mine <= allowed)
