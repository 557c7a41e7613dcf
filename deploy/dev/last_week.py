#!/usr/bin/env python3
"""Spreads the receipts of a development database over the last seven days, so that lists and charts look as on a relay
that has run for a week. Only times change. The argument is the database; receiptd must be stopped. It invents a past:
not for a database with real receipts."""

import math, random, sqlite3, sys, time

HOUR = 3_600_000
HOURS = 7 * 24
EVENING = range(19, 22)  # hours ago: when the failed ones failed
# Of a receipt and its purchase, as far as they are set.
MOMENTS = ("happened_at", "first_seen_at", "bought_at", "updated_at", "created_at", "ready_at", "retry_since",
           "delivered_at")


def moments(count, weights, now):
    """As many moments, in order; each hour gets its share of them. `weights` begins with the oldest hour."""
    shares = [sum(weights[:hour]) / sum(weights) for hour in range(len(weights) + 1)]
    hour = 0
    for number in range(count):
        share = (number + 0.5) / count
        while shares[hour + 1] < share:
            hour += 1
        part = (share - shares[hour]) / (shares[hour + 1] - shares[hour])
        yield int(now - (len(weights) - hour - part) * HOUR)


def shop(now, noise):
    """How busy each of the last hours was: quiet nights, busy evenings, and chance."""
    for ago in range(HOURS, 0, -1):
        hour = (now / HOUR - ago) % 24
        yield (1.1 + math.cos((hour - 19) / 24 * 2 * math.pi)) * noise.uniform(0.8, 1.2)


def bad_evening():
    return [ago in EVENING for ago in range(HOURS, 0, -1)]


def spread(store, app, state, weights, now):
    rows = store.execute("SELECT row_id, updated_at FROM purchases WHERE app = ? AND state = ? ORDER BY row_id",
                         (app, state)).fetchall()
    settings = ", ".join(f"{name} = {name} - :shift" for name in MOMENTS)
    for (row, then), moment in zip(rows, moments(len(rows), weights, now)):
        values = {"row": row, "shift": then - moment}
        store.execute(f"UPDATE purchases SET {settings} WHERE row_id = :row", values)
        store.execute("UPDATE attempts SET at = at - :shift WHERE purchase_row = :row", values)
        store.execute("UPDATE events SET received_at = received_at - :shift WHERE purchase_row = :row", values)


def bucket(milliseconds):
    """As `LatencyBuckets.bucket`."""
    number, bound = 0, 1.0
    while bound < milliseconds:
        number, bound = number + 1, bound * 1.05 / 0.95
    return number


def count_again(store):
    """What the charts are drawn from."""
    store.create_function("bucket", 1, bucket, deterministic=True)
    store.execute("DELETE FROM latencies")
    store.execute("""
      INSERT INTO latencies (app, destination, minutes, slot, kind, bucket, count)
      SELECT app, destination, 60, at / 3600000 * 60, outcome NOT IN ('', 'slow'), bucket(duration_ms), count(*)
      FROM attempts GROUP BY 1, 2, 4, 5, 6
      UNION ALL
      SELECT app, destination, 60, delivered_at / 3600000 * 60, 2, bucket(delivered_at - bought_at), count(*)
      FROM purchases WHERE state = 'delivered' GROUP BY 1, 2, 4, 6""")
    store.execute("DELETE FROM delivery_counts")
    store.execute("""
      INSERT INTO delivery_counts (minute, app, delivered, failed)
      SELECT updated_at / 60000, app, sum(state = 'delivered'), sum(state = 'failed') FROM purchases
      WHERE state IN ('delivered', 'failed') GROUP BY 1, 2""")


def main():
    now, noise = int(time.time() * 1000), random.Random(7)
    store = sqlite3.connect(sys.argv[1])
    with store:
        for (app,) in store.execute("SELECT DISTINCT app FROM purchases ORDER BY app").fetchall():
            spread(store, app, "delivered", list(shop(now, noise)), now)
            spread(store, app, "failed", bad_evening(), now)
        count_again(store)
    store.close()


if __name__ == "__main__":
    main()
