-- The first schema. Times are Unix milliseconds; texts are UTF-8; nothing here asks for the time or for
-- randomness.

-- What the app posted before a web checkout.
CREATE TABLE contexts (
  row_id       INTEGER PRIMARY KEY,
  id           TEXT    NOT NULL UNIQUE,          -- ctx_…; whoever has it may ask what became of the checkout
  app          TEXT    NOT NULL,
  user_id      TEXT    NOT NULL,
  ply_context  TEXT    NOT NULL,                 -- exactly as it came
  digest       BLOB    NOT NULL,                 -- SHA-256 of ply_context, to recognise a repeat
  price_id     TEXT,                             -- the price that the blob names
  received_at  INTEGER NOT NULL,                 -- the first post
  posted_at    INTEGER NOT NULL,                 -- the last one: a repeat counts as a new checkout
  expires_at   INTEGER NOT NULL,
  -- The purchase that claimed it; NULL while it is unused; 0 if it was let go when the same blob had come
  -- again, which serves in its place.
  purchase_row INTEGER
) STRICT;
CREATE UNIQUE INDEX contexts_unused_repeat ON contexts (app, user_id, digest) WHERE purchase_row IS NULL;
-- In the order of time, so that only the newest are looked at, however many a client has posted for a user.
CREATE INDEX contexts_unused_newest ON contexts (app, user_id, posted_at) WHERE purchase_row IS NULL;

-- What is known of one purchase (an object that events spoke of) and, once it deserves one, its receipt.
-- `state` is NULL as long as there is no receipt.
CREATE TABLE purchases (
  -- Never given out twice (`sequences`): contexts outlive what claimed them.
  row_id            INTEGER PRIMARY KEY,
  app               TEXT    NOT NULL,
  object_type       TEXT    NOT NULL CHECK (object_type = 'subscription' OR object_type = 'checkout_session'),
  object_id         TEXT    NOT NULL,
  session_id        TEXT,
  observations      INTEGER NOT NULL,            -- a set of bits that only grows
  customer_id       TEXT,
  user_id           TEXT,
  user_source       INTEGER,
  prices            TEXT    NOT NULL,            -- one to a line
  prices_of_checkout INTEGER NOT NULL,
  context_id        TEXT,
  ply_context       TEXT,
  context_price_id  TEXT,
  happened_at       INTEGER NOT NULL,
  first_seen_at     INTEGER NOT NULL,
  bought_at         INTEGER,
  updated_at        INTEGER NOT NULL,
  -- the receipt
  receipt_id        TEXT,                        -- rcp_…; names its row: no index is needed
  -- Not IN (…): for a list of more than two SQLite sets up a table at each insertion.
  state             TEXT    CHECK (state = 'waiting' OR state = 'pending' OR state = 'delivered'
                                   OR state = 'failed' OR state = 'cancelled'),
  reason            TEXT,
  wait_until        INTEGER,                     -- when to look at a waiting one again
  price_id          TEXT,
  price_mismatch    INTEGER NOT NULL DEFAULT 0,
  body              BLOB,                        -- what is sent; fixed when the receipt becomes ready
  attempts          INTEGER NOT NULL DEFAULT 0,
  spent_tries       INTEGER NOT NULL DEFAULT 0,  -- attempts since ready or replayed
  last_status       INTEGER,
  import_id         TEXT,
  created_at        INTEGER,
  ready_at          INTEGER,
  retry_since       INTEGER,                     -- ready or replayed: the retry budget counts from here
  paused_base_ms    INTEGER NOT NULL DEFAULT 0,  -- the app's paused time at that moment
  next_attempt_at   INTEGER,
  delivered_at      INTEGER,
  note              TEXT,                        -- an operator's words
  CHECK ((state IS NULL) = (receipt_id IS NULL)),
  CHECK (state IS NULL OR state <> 'pending' OR (body IS NOT NULL AND next_attempt_at IS NOT NULL)),
  CHECK (state IS NULL OR state = 'pending' OR state = 'delivered' OR reason IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX purchases_by_object ON purchases (object_id, app, object_type);
CREATE INDEX purchases_by_session ON purchases (session_id, app)
  WHERE session_id IS NOT NULL AND object_type = 'subscription';
CREATE INDEX purchases_by_customer ON purchases (customer_id, app) WHERE customer_id IS NOT NULL;
CREATE INDEX purchases_by_user ON purchases (user_id, app) WHERE user_id IS NOT NULL;
CREATE INDEX purchases_by_import ON purchases (import_id) WHERE import_id IS NOT NULL;
CREATE INDEX purchases_due ON purchases (app, next_attempt_at, ready_at) WHERE state = 'pending';
-- Those that are not due in the order in which they became ready: tried, or put off.
CREATE INDEX purchases_put_off ON purchases (app, ready_at)
  WHERE state = 'pending' AND next_attempt_at <> ready_at;
CREATE INDEX purchases_waits ON purchases (wait_until) WHERE state = 'waiting' AND wait_until IS NOT NULL;
-- Every receipt stands in one group, in the order of time: all lists are read from here, group by group, and
-- `receipt_counts` says which groups there are.
CREATE INDEX purchases_by_group ON purchases (app, state, reason, receipt_id) WHERE state IS NOT NULL;
CREATE INDEX purchases_noted ON purchases (updated_at) WHERE state IS NULL;

-- Webhook deliveries that carried a valid signature.
CREATE TABLE events (
  row_id       INTEGER PRIMARY KEY,
  app          TEXT    NOT NULL,
  processor    TEXT    NOT NULL,
  event_id     TEXT    NOT NULL,
  type         TEXT    NOT NULL,
  outcome      TEXT    NOT NULL,
  received_at  INTEGER NOT NULL,
  purchase_row INTEGER REFERENCES purchases (row_id) ON DELETE SET NULL,
  body         BLOB    NOT NULL                  -- raw
) STRICT;
CREATE UNIQUE INDEX events_by_id ON events (event_id, app, processor);
CREATE INDEX events_of_purchase ON events (purchase_row) WHERE purchase_row IS NOT NULL;

-- Tries to deliver a receipt.
CREATE TABLE attempts (
  row_id       INTEGER PRIMARY KEY,
  purchase_row INTEGER NOT NULL REFERENCES purchases (row_id) ON DELETE CASCADE,
  number       INTEGER NOT NULL,
  at           INTEGER NOT NULL,
  duration_ms  INTEGER NOT NULL,
  status       INTEGER,
  error        TEXT,
  ambiguous    INTEGER NOT NULL,                 -- sent, and no answer: it may have arrived
  response     BLOB    NOT NULL                  -- the answer's first 4 KiB
) STRICT;
CREATE UNIQUE INDEX attempts_of_purchase ON attempts (purchase_row, number);

-- Whether an app's deliveries may go.
CREATE TABLE breakers (
  app         TEXT    PRIMARY KEY,
  state       TEXT    NOT NULL CHECK (state IN ('closed', 'open', 'paused')),
  failures    INTEGER NOT NULL,
  probe_at    INTEGER,
  rest_until  INTEGER,
  since       INTEGER,
  cause       TEXT,
  paused_ms   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- How many receipts each group has, so that asking does not cost more the more there are. Kept by the writer,
-- once in each transaction; `reason` is empty where there is none.
CREATE TABLE receipt_counts (
  app    TEXT    NOT NULL,
  state  TEXT    NOT NULL,
  reason TEXT    NOT NULL,
  count  INTEGER NOT NULL,
  PRIMARY KEY (app, state, reason)
) STRICT, WITHOUT ROWID;

-- How many receipts were delivered, and failed, in each minute of the last days.
CREATE TABLE delivery_counts (
  minute    INTEGER NOT NULL,                    -- Unix minutes
  app       TEXT    NOT NULL,
  delivered INTEGER NOT NULL,
  failed    INTEGER NOT NULL,
  PRIMARY KEY (minute, app)
) STRICT, WITHOUT ROWID;

-- The next number of what is numbered.
CREATE TABLE sequences (
  name TEXT    PRIMARY KEY,
  next INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO sequences (name, next) VALUES ('purchases', 1);
