-- Records why a purchase waits, how it got its context, why deliveries failed, and the state of the service.
-- The parts are independent.

-- 1. The join.

-- How a purchase got its context: 0 an operator, 1 its blob in an event, 2 its id in an event's metadata,
-- 3 its id as the checkout's reference, 4 not known, 5 a guess. NULL without a context. The default is for
-- the rows of older versions, which did not record it; it rewrites none of them.
ALTER TABLE purchases ADD COLUMN context_source INTEGER DEFAULT 4;
-- The receipt was sent with a guessed context that another purchase names.
ALTER TABLE purchases ADD COLUMN context_disputed INTEGER NOT NULL DEFAULT 0;
-- Guesses that another purchase may still claim: few at any time, however many purchases a user has.
CREATE INDEX purchases_guessing ON purchases (user_id, app)
  WHERE context_source = 5 AND context_id IS NOT NULL AND body IS NULL;
-- Objects whose receipt retention deleted, for as long as the processor may still send their events again.
CREATE TABLE past_purchases (
  row_id    INTEGER PRIMARY KEY,
  object_id TEXT    NOT NULL,                    -- the object's or its checkout's
  app       TEXT    NOT NULL,
  processor TEXT    NOT NULL,
  until     INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX past_purchases_by_object ON past_purchases (object_id, app, processor);
CREATE INDEX past_purchases_until ON past_purchases (until);
-- Purchases without a receipt; those that ended (bit 256 of their observations) separately, because retention
-- keeps them for longer.
DROP INDEX purchases_noted;
CREATE INDEX purchases_noted ON purchases ((observations & 256), updated_at) WHERE state IS NULL;

-- 2. Deliveries and jobs.

-- Why the last attempt to deliver failed, such as `timeout` or `http_503`; NULL when it did not fail.
ALTER TABLE purchases ADD COLUMN last_cause TEXT;
-- 1 for a receipt that an operator sent again: new receipts are delivered before it.
ALTER TABLE purchases ADD COLUMN is_replay INTEGER NOT NULL DEFAULT 0;
UPDATE purchases SET last_cause = (
    SELECT iif(status IS NULL, coalesce(error, 'no_answer'), 'http_' || status) FROM attempts
    WHERE purchase_row = purchases.row_id ORDER BY number DESC LIMIT 1)
  WHERE state = 'pending' OR (state = 'failed' AND reason = 'gave_up');
UPDATE purchases SET last_cause = reason WHERE state = 'failed' AND reason GLOB 'http_*';

-- The default is for the rows of older versions, which knew one processor only; it rewrites none of them.
ALTER TABLE purchases ADD COLUMN processor TEXT NOT NULL DEFAULT 'stripe';
-- A group is an app, a state, a reason, a cause and a processor: every list and every count is made of
-- groups.
DROP INDEX purchases_by_group;
CREATE INDEX purchases_by_group ON purchases (app, state, reason, last_cause, processor, receipt_id)
  WHERE state IS NOT NULL;
DROP TABLE receipt_counts;
CREATE TABLE receipt_counts (
  app        TEXT    NOT NULL,
  state      TEXT    NOT NULL,
  reason     TEXT    NOT NULL,                   -- empty where there is none
  last_cause TEXT    NOT NULL,                   -- empty where there is none
  processor  TEXT    NOT NULL,
  count      INTEGER NOT NULL,
  PRIMARY KEY (app, state, reason, last_cause, processor)
) STRICT, WITHOUT ROWID;
INSERT INTO receipt_counts (app, state, reason, last_cause, processor, count)
  SELECT app, state, coalesce(reason, ''), coalesce(last_cause, ''), processor, count(*) FROM purchases
  WHERE state IS NOT NULL GROUP BY 1, 2, 3, 4, 5;

-- How many receipts failed in each minute of the last days, and when the oldest of them was made.
CREATE TABLE failure_counts (
  minute     INTEGER NOT NULL,                   -- Unix minutes
  app        TEXT    NOT NULL,
  reason     TEXT    NOT NULL,
  last_cause TEXT    NOT NULL,                   -- empty where there is none
  count      INTEGER NOT NULL,
  made_since INTEGER NOT NULL,
  PRIMARY KEY (minute, app, reason, last_cause)
) STRICT, WITHOUT ROWID;

-- Delivered receipts whose answer named no import id; not those of erased users, whose ids are gone.
CREATE INDEX purchases_without_import_id ON purchases (app, receipt_id)
  WHERE state = 'delivered' AND import_id IS NULL AND user_id IS NOT NULL;

-- By app: waits of an app that is not configured are not decided until it is configured again.
DROP INDEX purchases_waits;
CREATE INDEX purchases_waits ON purchases (app, wait_until)
  WHERE state = 'waiting' AND wait_until IS NOT NULL;

-- The text of the operating system, libcurl or OpenSSL about a failure, and the address.
ALTER TABLE attempts ADD COLUMN detail TEXT;
-- An app's processors may have different destinations: one that fails stops only its own receipts.
ALTER TABLE breakers RENAME TO breakers_of_one_destination;
CREATE TABLE breakers (
  app         TEXT    NOT NULL,
  destination TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('closed', 'open', 'paused')),
  failures    INTEGER NOT NULL,
  probe_at    INTEGER,
  rest_until  INTEGER,
  since       INTEGER,
  cause       TEXT,
  paused_ms   INTEGER NOT NULL,
  detail      TEXT,
  PRIMARY KEY (app, destination)
) STRICT, WITHOUT ROWID;
INSERT INTO breakers (app, destination, state, failures, probe_at, rest_until, since, cause, paused_ms)
  SELECT app, 'purchasely', state, failures, probe_at, rest_until, since, cause, paused_ms
  FROM breakers_of_one_destination;
DROP TABLE breakers_of_one_destination;

-- A job releases each app's receipts separately, so one app's trouble does not delay the others'.
ALTER TABLE job_receipts ADD COLUMN app TEXT NOT NULL DEFAULT '';
UPDATE job_receipts SET app = coalesce((SELECT app FROM purchases WHERE row_id = purchase_row), '')
  WHERE outcome = 'planned';
CREATE INDEX job_receipts_planned ON job_receipts (job_row, app, position) WHERE outcome = 'planned';
ALTER TABLE jobs DROP COLUMN released_to;

-- 3. The service.

-- Reports of receiptd for receiptctl, which reads this file and does not ask the process. One row for each
-- kind of report; the next report replaces it.
CREATE TABLE service_reports (
  name    TEXT    PRIMARY KEY,                   -- `health` or `reload`
  at      INTEGER NOT NULL,
  content TEXT    NOT NULL                       -- a JSON object
) STRICT, WITHOUT ROWID;

-- 1 for an alert whose last notice was sent but not answered: it is sent again at once.
ALTER TABLE alerts ADD COLUMN unanswered INTEGER NOT NULL DEFAULT 0;

-- 4. Several payment processors.

-- The kinds of objects belong to the processors. SQLite cannot drop a CHECK; this is the way that it
-- documents for one whose removal changes no row (https://www.sqlite.org/lang_altertable.html#otheralter).
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(
    sql, ' CHECK (object_type = ''subscription'' OR object_type = ''checkout_session'')', '')
  WHERE type = 'table' AND name = 'purchases';
PRAGMA writable_schema = RESET;
-- What is known of a payment that started at the relay, as a JSON object: amount, currency, captured,
-- reference, details of the processor. NULL for any other.
ALTER TABLE purchases ADD COLUMN payment TEXT;
-- Two processors may use the same id.
DROP INDEX purchases_by_object;
CREATE UNIQUE INDEX purchases_by_object ON purchases (object_id, app, object_type, processor);
-- The destination that `body` is for, which no other gets. The default is for the rows of older versions,
-- which knew one destination only; it rewrites none of them.
ALTER TABLE purchases ADD COLUMN destination TEXT DEFAULT 'purchasely';
-- 1 if `body` reports that the payment was reversed, after the purchase was delivered.
ALTER TABLE purchases ADD COLUMN is_reversal INTEGER NOT NULL DEFAULT 0;
-- What is due: by destination; new receipts and replays apart.
DROP INDEX purchases_due;
CREATE INDEX purchases_due ON purchases (app, destination, is_replay, next_attempt_at, retry_since)
  WHERE state = 'pending';
-- What a checkout sold, by the checkout's id. A row that is known under that id itself has it as `object_id`.
DROP INDEX purchases_by_session;
CREATE INDEX purchases_by_session ON purchases (session_id, app) WHERE session_id <> object_id;

-- The users to whom customers of processors belong: the first who named one in a payment. Retention keeps
-- these rows, because the processor keeps the customer's stored cards. An erasure replaces both ids by
-- hashes.
CREATE TABLE payers (
  app         TEXT NOT NULL,
  processor   TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  PRIMARY KEY (app, processor, customer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX payers_by_user ON payers (user_id, app);

-- Orders to capture a payment. A row is an obligation until it has an outcome.
CREATE TABLE captures (
  row_id       INTEGER PRIMARY KEY,
  app          TEXT    NOT NULL,
  processor    TEXT    NOT NULL,
  purchase_row INTEGER NOT NULL REFERENCES purchases (row_id) ON DELETE CASCADE,
  ordered_at   INTEGER NOT NULL,
  grant_id     TEXT,                             -- the customer's approval, as the app sent it
  failures     INTEGER NOT NULL,
  retry_at     INTEGER NOT NULL,
  last_trouble TEXT,                             -- why the last reply proved nothing
  -- 1 if the processor refused a call so that the relay gives up: only lookups follow.
  is_given_up  INTEGER NOT NULL DEFAULT 0,
  outcome      TEXT,                             -- NULL until it is known
  status       INTEGER,                          -- of the answer to the app
  body         BLOB,                             -- of the answer to the app
  ended_at     INTEGER
) STRICT;
-- A payment has one open capture at most.
CREATE UNIQUE INDEX captures_open ON captures (purchase_row) WHERE outcome IS NULL;
CREATE INDEX captures_due ON captures (app, processor, retry_at) WHERE outcome IS NULL;
CREATE INDEX captures_by_purchase ON captures (purchase_row);
-- For operators: the oldest order whose outcome is unknown, and those that were given up.
CREATE INDEX captures_oldest ON captures (app, processor, ordered_at) WHERE outcome IS NULL;
CREATE INDEX captures_abandoned ON captures (app, processor, ended_at) WHERE outcome = 'abandoned';

-- The row id, which ends every index, is the order of time: each group is a list in order.
DROP INDEX events_by_group;
CREATE INDEX events_by_group ON events (app, processor, outcome, type);
-- 1 for an event from an unknown sender: it only causes a fetch from the processor.
ALTER TABLE events ADD COLUMN is_hint INTEGER NOT NULL DEFAULT 0;
-- A purchase is looked up for data for which its receipt waits, and for events that only name it.
ALTER TABLE look_ups ADD COLUMN processor TEXT NOT NULL DEFAULT 'stripe';
-- The number of such events since the purchase was fetched; 0 when only its receipt waits.
ALTER TABLE look_ups ADD COLUMN fetches INTEGER NOT NULL DEFAULT 0;
DROP INDEX look_ups_due;
CREATE INDEX look_ups_due ON look_ups (app, processor, due_at);
-- Fetches without an answer.
CREATE INDEX look_ups_failed ON look_ups (app, processor, due_at) WHERE fetches > 0 AND tries > 0;
ALTER TABLE backfills RENAME TO backfills_of_one_processor;
CREATE TABLE backfills (
  app       TEXT    NOT NULL,
  processor TEXT    NOT NULL,
  since     INTEGER NOT NULL,
  PRIMARY KEY (app, processor)
) STRICT, WITHOUT ROWID;
INSERT INTO backfills (app, processor, since)
  SELECT app, 'stripe', since FROM backfills_of_one_processor;
DROP TABLE backfills_of_one_processor;

-- 5. What purchases and contexts are found by.

-- Numbers that stand for ids (`RowKey`): the checkout, customer and user of a purchase; the user and the blob
-- of a context. Each has a row of `purchases` or `contexts`. An index of random ids dirties a page for each
-- entry. A row may have been deleted, and two ids may have the same number, so the row that is found is
-- compared with the id.
CREATE TABLE keys (
  key INTEGER NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (key, row)
) STRICT, WITHOUT ROWID;
-- Newer keys, which are moved into `keys` in the order of that table.
CREATE TABLE recent_keys (
  key INTEGER NOT NULL,
  row INTEGER NOT NULL,
  PRIMARY KEY (key, row)
) STRICT, WITHOUT ROWID;
-- The newest keys, one row for each transaction, which are moved into `recent_keys` in order.
CREATE TABLE key_tail (
  number  INTEGER PRIMARY KEY,
  -- Key and row, 8 bytes each, big-endian; the row is negative if it no longer has the key.
  entries BLOB    NOT NULL
) STRICT;
DROP INDEX purchases_by_session;
DROP INDEX purchases_by_customer;
DROP INDEX purchases_by_user;
DROP INDEX contexts_by_user;
DROP INDEX contexts_unused_repeat;

-- 6. Compressed bodies.

-- Zstandard dictionaries (RFC 8878 section 5), numbered from 1 (`sequences`): no number is used again, even
-- if rows of this table are lost, so that a lost dictionary can be put back. They contain only keys and
-- values that many customers' bodies share; the rest is random characters in the same form. So an erasure
-- does not change them. Rows are never changed, except for `passed_row`, and never deleted, because bodies
-- need them as long as they exist; each has 16 KiB at most.
CREATE TABLE dictionaries (
  number     INTEGER PRIMARY KEY,
  -- The bodies of events; or those of receipts, and contexts.
  kind       TEXT    NOT NULL CHECK (kind = 'event' OR kind = 'receipt'),
  made_at    INTEGER NOT NULL,
  content    BLOB    NOT NULL,
  -- SHA-256 of `content`: a damaged dictionary could not read old bodies, and would make new ones that only
  -- the damaged dictionary can read.
  digest     BLOB    NOT NULL,
  -- Retention has compressed the events up to this row where possible, and continues after it.
  passed_row INTEGER NOT NULL
) STRICT;
-- How `body` is stored: NULL as it was received; otherwise as one Zstandard frame that was made with this
-- dictionary. The bytes never decide that. Older rows have NULL without being rewritten.
ALTER TABLE events ADD COLUMN dictionary INTEGER REFERENCES dictionaries (number);
ALTER TABLE purchases ADD COLUMN dictionary INTEGER REFERENCES dictionaries (number);
-- The offset of the context in the uncompressed body, where it is a JSON string without escapes. Then
-- `ply_context` is NULL.
ALTER TABLE purchases ADD COLUMN context_at INTEGER;
-- The context as a Zstandard frame. Then `ply_context` is empty.
ALTER TABLE contexts ADD COLUMN frame BLOB;
ALTER TABLE contexts ADD COLUMN dictionary INTEGER REFERENCES dictionaries (number);

-- 7. Copies of the whole database.

-- What `receiptctl db copy` notes. The row `source` is in the database that is copied, the row `target` in
-- the copy until that is complete: with either, no program may write, except that a source whose copy was
-- interrupted may be used, and then loses its row.
CREATE TABLE copies (
  role     TEXT    PRIMARY KEY CHECK (role = 'source' OR role = 'target'),
  id       INTEGER NOT NULL,                     -- random; the same in both databases
  place    TEXT    NOT NULL,                     -- the other database, without passwords
  state    TEXT    NOT NULL CHECK (state = 'copying' OR state = 'retired'),
  at       INTEGER NOT NULL,                     -- when the copy began, or the source was retired
  progress TEXT    NOT NULL                      -- a JSON object: how far the target has come
) STRICT, WITHOUT ROWID;
