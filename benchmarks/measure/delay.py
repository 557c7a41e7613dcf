"""How long it takes from the webhook's 200 to the receipt at the destination, on an idle daemon: single events with
pauses between them."""

from measure import ingest, table
from measure.programs import arrivals, bare, object_of, pace, receiptd, wait_for_arrivals
from measure.settings import FOLDER, ROUNDS, SINGLES, fail, say, sync_milliseconds
import workload

EVENTS, RATE = SINGLES, 20
KEPT, TIMES = FOLDER / "delay.kept", FOLDER / "delay.times"


def answered(path, records, first, count):
    """When each subscription's event was answered, in nanoseconds."""
    moments = [int(line.split()[2]) for line in path.read_text().splitlines()]
    return dict(zip(workload.subscriptions(FOLDER, records, first, count), moments, strict=True))


def delays(kept, acknowledged):
    """Milliseconds from the answer to the arrival, for each receipt; each has arrived once."""
    found = [(object_of(body), moment) for moment, body in arrivals(kept)]
    if len(found) != len(acknowledged) or dict(found).keys() != acknowledged.keys():
        fail(f"{len(found)} arrivals, where {len(acknowledged)} receipts were to arrive once each")
    return [(moment - acknowledged[name]) / 1e6 for name, moment in found]


def single(first):
    with bare(KEPT) as destination, receiptd(destination.port) as relay:
        pace("events", relay, RATE, EVENTS, first, connections=1, times=TIMES)
        wait_for_arrivals(destination, EVENTS, 30)
    return delays(KEPT, answered(TIMES, "events", first, EVENTS))


def write_receipt():
    """The bytes of a receipt as a request without marks."""
    _, body = arrivals(KEPT)[0]
    text = workload.request("/receipts", ["X-API-KEY: benchmark", "X-PLATFORM-TYPE: STRIPE"], body.decode(),
                            workload.CONTEXT)
    (FOLDER / "receipt.template").write_text(text)
    (FOLDER / "receipt.records").write_text("")


def arrival(notes):
    ingest.write_records("events", ROUNDS * EVENTS)
    ours, trips, sync = [], [], sync_milliseconds()
    for number in range(ROUNDS):
        found = single(number * EVENTS)
        ours += found
        write_receipt()
        with bare() as yardstick:
            trips.append(pace("receipt", yardstick, RATE, EVENTS, connections=1)["sent_p50_ms"])
        say(f"delay, round {number + 1}: 200 to arrival p50 {table.middle(found):.3f} ms; round trip {trips[-1]:.3f} ms")
    mine, trip = table.middle(ours), table.middle(trips)
    return [table.Row("webhook's 200 to arrival, idle, p50", f"{mine:.3f} ms", f"{trip:.3f} ms", mine / trip,
                      f"≤ 3 × + two syncs: {3 * trip + 2 * sync:.3f} ms", mine <= 3 * trip + 2 * sync)]
