"""What pgbench reaches with the same rows: `yardstick.py BATCH FOLDER <ROWS` reads an event that receiptd has stored,
its receipt and the number of its keys, each as a line of JSON, and writes a script of pgbench that inserts as many rows in
one transaction as receiptd does in a batch, with new ids and the same values otherwise. The bodies are sent with each row,
as any client must; the statements are prepared."""

import json, pathlib, sys

# Of the values in one statement pgbench sends 255 at most.
BATCH_MAX = 120
# These have a new value in each row.
IDS = {"event_id": "evt_1", "object_id": "sub_1", "session_id": "cs_live_a1", "customer_id": "cus_", "user_id": "user-",
       "receipt_id": "r_"}
BODIES = {"events": "event_body", "purchases": "receipt_body"}


def literal(value):
    if value is None:
        return "NULL"
    return str(value) if isinstance(value, int) else "'" + value.replace("'", "''") + "'"


def value(table, column, sample, row):
    if column == ("purchase_row" if table == "events" else "row_id"):
        return f"CAST(:base AS bigint) + {row}"
    if column == "body":
        return f":{BODIES[table]}"
    if column in IDS and sample[column] is not None:
        # As long as the original.
        length = max(8, len(sample[column]) - len(IDS[column]))
        text = "md5(random()::text)" if length <= 32 else "md5(random()::text) || md5(random()::text)"
        return f"'{IDS[column]}' || substr({text}, 1, {length})"
    return literal(sample[column])


def insertion(table, sample, batch):
    columns = [column for column in sample if (table, column) != ("events", "row_id")]
    rows = ["(" + ", ".join(value(table, column, sample, row) for column in columns) + ")" for row in range(1, batch + 1)]
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES {', '.join(rows)};"


def main(batch, folder):
    batch = min(int(batch), BATCH_MAX)
    event, purchase, keys = (json.loads(line) for line in sys.stdin)
    folder = pathlib.Path(folder)
    (folder / "yardstick.sql").write_text("\n".join([
        "\\set base random(1000000000, 9000000000000) * 1000", "BEGIN;", insertion("purchases", purchase, batch),
        insertion("events", event, batch),
        "INSERT INTO keys (key, row) SELECT (random() * 9e18)::bigint, row "
        f"FROM generate_series(CAST(:base AS bigint) + 1, CAST(:base AS bigint) + {batch}) AS row, "
        f"generate_series(1, {keys});", "END;"]) + "\n")
    print(batch, event["body"], purchase["body"])


main(*sys.argv[1:])
