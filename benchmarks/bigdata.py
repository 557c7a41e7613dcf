"""Makes large databases out of small true ones: receiptd makes a database with one purchase, and its rows are
multiplied. What is known of the schema is here, and it is little: which tables hold rows of a purchase, and which values
look like identifiers and moments. A new column or table needs nothing here. Standard library only.

A seed is a database with one purchase of the kind that is wanted; the target is an empty one that receiptd made."""

import contextlib, hashlib, os, re, sqlite3

import workload

MILLION = 1_000_000
BATCH = 250_000  # rows that are made in one go
BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
OURS = re.compile(r"^(rcp|ctx)_[0-9A-HJKMNP-TV-Z]{26}$")
STRIPE = re.compile(rf"^((?:evt|sub|in)_1)[0-9A-Za-z]{{5}}{workload.ACCOUNT}[0-9A-Za-z]{{8}}$")
CUSTOMER = re.compile(r"^cus_[0-9A-Za-z]{14}$")
SESSION = re.compile(r"^cs_live_a1[0-9A-Za-z]{56}$")
UUID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def scrambled(salt):
    """An expression that gives each `n` another number, in no order: n times an odd number, of which the low bits
    are kept (one to one)."""
    return f"((n * 2654435761 + {salt * 7919}) & 4294967295)"


def digits(value, base, width):
    """An expression that writes a number in base 62 or 32, most significant digit first, by two looked up at a time."""
    pairs = [f"(SELECT text FROM pairs{base} WHERE value = {value} / {base ** place} % {base * base})"
             for place in range(width - 2, -1, -2)]
    top = f"{value} / {base ** (width - 1)} % {base}"
    first = [f"substr((SELECT text FROM pairs{base} WHERE value = {top}), 2)"] * (width % 2)
    return "||".join(first + pairs)


def write_pairs(target):
    for base, alphabet in ((62, workload.BASE62), (32, BASE32)):
        target.execute(f"CREATE TEMP TABLE pairs{base} (value INTEGER PRIMARY KEY, text TEXT)")
        target.executemany(f"INSERT INTO pairs{base} VALUES (?, ?)",
                           ((at, alphabet[at // base] + alphabet[at % base]) for at in range(base * base)))


class Multiplier:
    """Makes many rows from a seed's. The parts of the identifiers are computed once for each number `n`, in a
    temporary table, then the identifiers, then the rows."""

    def __init__(self, seed, replaced):
        self.seed, self.replaced = seed, replaced
        self.known, self.made, self.stride, self.now = {}, [], 1, 0
        tables = {name: seed.execute(f"PRAGMA table_info({name})").fetchall() for (name,) in seed.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")}
        self.columns = {name: columns for name, columns in tables.items() if self.is_of_a_purchase(name, columns)}
        self.rows = {name: seed.execute(f"SELECT * FROM {name}").fetchall() for name in self.columns}
        for name, rows in self.rows.items():
            for row in rows:
                for column, value in zip(self.columns[name], row):
                    self.learn(column[1], value)

    @staticmethod
    def is_of_a_purchase(name, columns):
        """Whether the rows of a table belong to a purchase: it is the table of purchases, or its rows name one by
        number. The other tables are about the whole database, such as counts; receiptd has made their rows."""
        return name == "purchases" or any(column[1] == "purchase_row" for column in columns)

    def learn(self, name, value):
        if isinstance(value, str) and value not in self.known and (made := self.identifier(value, len(self.known))):
            self.known[value] = f"id{len(self.made)}"
            self.made.append(made)
        if isinstance(value, int) and self.is_row(name):
            self.stride = max(self.stride, value)
        if isinstance(value, int) and name == "first_seen_at":
            self.now = value

    @staticmethod
    def is_row(name):
        return name == "row_id" or name.endswith("_row")

    @staticmethod
    def is_moment(value):
        return isinstance(value, int) and 1_500_000_000_000 < value < 2_500_000_000_000

    def identifier(self, value, salt):
        """The expression in the place of an identifier of a seed; None when the value is none. Ours carry their
        moment, and the number of their row."""
        tail = f"printf('%08x', {scrambled(salt)})"
        if found := OURS.match(value):
            return f"'{found[1]}_'||time||serial||printf('%08X', {scrambled(salt)})"
        if found := STRIPE.match(value):
            return f"'{found[1]}'||second||'{workload.ACCOUNT}'||{tail}"
        if CUSTOMER.match(value):
            return f"'cus_'||minute||'00'||{tail}"
        if SESSION.match(value):
            return f"'cs_live_a1'||{tail}||printf('%048x', {scrambled(salt + 1)})"
        if UUID.match(value):
            return f"{tail}||'{value[8:24]}'||printf('%012x', {scrambled(salt + 1)})"
        return None

    def text(self, value):
        """Text with identifiers in it."""
        if value in self.known:
            return self.known[value]
        found = re.split("(" + "|".join(re.escape(name) for name in self.known) + ")", value) if self.known else [value]
        return "||".join(self.known.get(part) or quoted(part) for part in found if part or len(found) == 1)

    def expression(self, name, value):
        if name in self.replaced and value is not None:
            return self.replaced[name]
        if isinstance(value, int) and self.is_row(name):
            return str(value) if value == 0 else f"(row + {value - 1})"
        if self.is_moment(value):
            # Times in the future, such as a wait's end, do not change.
            return f"(moment + {value - self.now})" if value <= self.now + 10_000 else str(value)
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, bytes):
            with contextlib.suppress(UnicodeDecodeError):
                return f"CAST({self.text(value.decode())} AS BLOB)"
            return f"x'{value.hex()}'"
        return "NULL" if value is None else repr(value)

    def multiply(self, target, first, count, moment):
        """Rows `first` to `first + count - 1`; `moment` is an expression of `n`: Unix milliseconds."""
        target.execute(f"""
          CREATE TEMP TABLE parts AS
          WITH RECURSIVE
            numbers(n) AS (SELECT {first} UNION ALL SELECT n + 1 FROM numbers WHERE n < {first + count - 1}),
            rows AS MATERIALIZED (SELECT n, n * {self.stride} AS row, {moment} AS moment FROM numbers)
          SELECT n, row, moment, {digits(f"(moment / 1000 - {workload.STRIPE_EPOCH})", 62, 5)} AS second,
            {digits(f"(moment / 60000 - {workload.STRIPE_EPOCH // 60})", 62, 4)} AS minute,
            {digits("moment", 32, 10)} AS time, {digits("row", 32, 8)} AS serial FROM rows""")
        made = "".join(f", {made} AS id{at}" for at, made in enumerate(self.made))
        target.execute(f"CREATE TEMP TABLE ids AS SELECT n, row, moment{made} FROM parts")
        for name, rows in self.rows.items():
            places = ", ".join(column[1] for column in self.columns[name])
            for values in rows:
                made = ", ".join(self.expression(column[1], value)
                                 for column, value in zip(self.columns[name], values))
                target.execute(f"INSERT INTO {name} ({places}) SELECT {made} FROM ids")
        target.execute("DROP TABLE ids")
        target.execute("DROP TABLE parts")


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


@contextlib.contextmanager
def without_indexes(target):
    """Filling goes without indexes and triggers; they are made again from their own text."""
    kept = target.execute("SELECT type, name, sql FROM sqlite_schema "
                          "WHERE type IN ('index', 'trigger') AND sql IS NOT NULL").fetchall()
    for kind, name, _ in kept:
        target.execute(f"DROP {kind} {name}")
    yield
    for kind, _, sql in sorted(kept):
        target.execute(sql)


def key_number(kind, value, app):
    """The number that stands for an id in `keys`: 48 bits of SHA-256, and 16 bits of FNV-1a of the app."""
    if value is None:
        return None
    text = value if isinstance(value, bytes) else value.encode()
    digest = hashlib.sha256(bytes([kind]) + text).digest()
    hashed = 0x811C9DC5
    for byte in app.encode():
        hashed = (hashed ^ byte) * 0x01000193 & 0xFFFFFFFF
    number = int.from_bytes(digest[:6], "big") << 16 | ((hashed >> 16 ^ hashed) & 0xFFFF)
    return number - (1 << 64) if number >= 1 << 63 else number


def fill_keys(target):
    """Fills the keys of purchases and contexts, if this schema has them."""
    if not target.execute("SELECT 1 FROM sqlite_schema WHERE name = 'keys'").fetchone():
        return
    target.create_function("key_number", 3, key_number, deterministic=True)
    for table in "keys", "recent_keys", "key_tail":
        target.execute(f"DELETE FROM {table}")
    target.execute("""
      INSERT INTO keys (key, row)
      SELECT key_number(1, session_id, app) AS key, row_id FROM purchases WHERE session_id <> object_id
      UNION ALL SELECT key_number(2, customer_id, app), row_id FROM purchases WHERE customer_id IS NOT NULL
      UNION ALL SELECT key_number(3, user_id, app), row_id FROM purchases WHERE user_id IS NOT NULL
      UNION ALL SELECT key_number(4, user_id, app), row_id FROM contexts
      UNION ALL SELECT key_number(5, CAST(digest || CAST(user_id AS BLOB) AS BLOB), app), row_id FROM contexts
      ORDER BY key""")


def count_anew(target):
    """Fills the tables that only count, as far as this schema has them."""
    tables = {name for (name,) in target.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    if "receipt_counts" in tables:
        columns = [row[1] for row in target.execute("PRAGMA table_info(receipt_counts)")]
        group = [name for name in columns if name not in ("count", "entered")]
        values = ", ".join(f"coalesce({name}, '')" for name in group)
        target.execute("DELETE FROM receipt_counts")
        target.execute(f"INSERT INTO receipt_counts ({', '.join(group)}, count) "
                       f"SELECT {values}, count(*) FROM purchases WHERE state IS NOT NULL GROUP BY {values}")
        if "entered" in columns:
            target.execute("UPDATE receipt_counts SET entered = count")
    if "delivery_counts" in tables:
        target.execute("INSERT OR REPLACE INTO delivery_counts (minute, app, delivered, failed) "
                       "SELECT delivered_at / 60000, app, count(*), 0 FROM purchases "
                       "WHERE delivered_at IS NOT NULL GROUP BY 1, 2")
    if "join_counts" in tables:
        hour, count = "received_at / 3600000", "count(*) FROM contexts"
        target.execute("DELETE FROM join_counts")
        target.execute(f"""INSERT INTO join_counts (app, hour, kind, count)
            SELECT app, created_at / 3600000, CASE WHEN context_disputed <> 0 THEN 'disputed'
                WHEN ply_context IS NULL AND context_at IS NULL THEN 'none'
                WHEN context_source IS NOT 4 THEN 'exact'
                WHEN context_candidates = 1 AND price_mismatch = 0 THEN 'user' ELSE 'guessed' END, count(*)
            FROM purchases WHERE ready_at IS NOT NULL OR (state = 'waiting' AND reason = 'context') GROUP BY 1, 2, 3
            UNION ALL SELECT app, {hour}, 'contexts', {count} GROUP BY 1, 2
            UNION ALL SELECT app, {hour}, 'unclaimed', {count} WHERE purchase_row IS NULL GROUP BY 1, 2""")
    if "sequences" in tables:
        target.execute("UPDATE sequences SET next = (SELECT 1 + max(row_id) FROM purchases) "
                       "WHERE name = 'purchases'")


def fill(database, parts, progress=lambda text: None):
    """Multiplies seeds into an empty database. A part is: a seed's path, how many, expressions that replace those of
    columns, and the moments (Unix milliseconds) between which its rows lie."""
    with contextlib.closing(sqlite3.connect(database, isolation_level=None)) as target:
        for setting in ("synchronous = OFF", "cache_size = -262144", "threads = 2", "temp_store = MEMORY",
                        "foreign_keys = OFF", "journal_mode = OFF"):
            target.execute(f"PRAGMA {setting}").fetchall()
        write_pairs(target)
        free = 1 + (target.execute("SELECT max(row_id) FROM purchases").fetchone()[0] or 0)
        with without_indexes(target):
            for path, count, replaced, (since, until) in parts:
                with contextlib.closing(sqlite3.connect(path)) as seed:
                    maker = Multiplier(seed, replaced)
                # n continues from part to part: they must not share identifiers.
                moment = f"({since} + (n - {free}) * {until - since} / {count})"
                for first in range(0, count, BATCH):
                    size = min(BATCH, count - first)
                    target.execute("BEGIN")
                    maker.multiply(target, free + first, size, moment)
                    target.execute("COMMIT")
                    if (first + size) % MILLION == 0:
                        progress(f"{first + size:,} of {count:,} rows")
                free += count
            progress("making the indexes")
        progress("counting")
        count_anew(target)
        fill_keys(target)
        # The size of the log, and that there is one, are written in the file; all else is the connection's own.
        target.execute("PRAGMA journal_mode = WAL").fetchall()
    sync(database)


def sync(path):
    """Syncs, so that earlier writes do not disturb a measurement."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())
