-- The schema for SQLite. PostgreSQL's has the same tables, and refers to the comments here. Times are Unix
-- milliseconds unless a name says otherwise; texts are UTF-8; truth values are 0 and 1. The row id, which
-- ends every index, is the order of time, so each group of an index is a list in order.

-- 1. Contexts and payments come in.

-- What the app posted before a web checkout.
CREATE TABLE contexts (
  row_id       INTEGER PRIMARY KEY,
  id           TEXT    NOT NULL UNIQUE,          -- ctx_…; the caller who has it sees the checkout
  app          TEXT    NOT NULL,
  user_id      TEXT    NOT NULL,
  ply_context  TEXT    NOT NULL,                 -- exactly as it came; empty if it is in `frame`
  digest       BLOB    NOT NULL,                 -- SHA-256 of the context, to recognise a repeat
  price_id     TEXT,                             -- the price that the context names
  received_at  INTEGER NOT NULL,                 -- the first post
  posted_at    INTEGER NOT NULL,                 -- the last one: a repeat counts as a new checkout
  expires_at   INTEGER NOT NULL,
  -- The purchase that claimed it; NULL while it is unused; 0 if it was freed after the same context had come
  -- again, which is used in its place.
  purchase_row INTEGER,
  dictionary   INTEGER,                          -- of `frame`; see `events.dictionary`
  frame        BLOB                              -- the context as a Zstandard frame
) STRICT;
CREATE INDEX contexts_by_app ON contexts (app);

-- What is known of one purchase (an object that events name) and, once it needs one, its receipt.
CREATE TABLE purchases (
  row_id             INTEGER PRIMARY KEY,        -- never used again (`sequences`): contexts refer to it
  app                TEXT    NOT NULL,
  processor          TEXT    NOT NULL,
  object_type        TEXT    NOT NULL,
  object_id          TEXT    NOT NULL,
  session_id         TEXT,                       -- its checkout
  observations       INTEGER NOT NULL,           -- a set of bits that only grows
  customer_id        TEXT,
  user_id            TEXT,
  user_source        INTEGER,
  prices             TEXT    NOT NULL,           -- one to a line
  prices_of_checkout INTEGER NOT NULL,
  -- A payment that began at the relay, as a JSON object: amount, currency, captured, reference, details.
  payment            TEXT,
  happened_at        INTEGER NOT NULL,
  first_seen_at      INTEGER NOT NULL,
  bought_at          INTEGER,
  updated_at         INTEGER NOT NULL,
  -- The join.
  context_id         TEXT,
  ply_context        TEXT,                       -- NULL without a context, and if it is in `body`
  context_price_id   TEXT,
  -- 0 an operator, 1 the context itself in an event, 2 its id in an event's metadata, 3 its id as the
  -- checkout's reference, 4 a guess; NULL without a context.
  context_source     INTEGER,
  context_candidates INTEGER,                    -- among how many contexts a guess was chosen
  context_disputed   INTEGER NOT NULL DEFAULT 0, -- sent with a guessed context that another purchase names
  -- The receipt; `state` is NULL as long as there is none.
  receipt_id         TEXT,                       -- rcp_…; names its row: no index is needed
  -- Not IN (…): for a list of more than two SQLite makes a table at each insertion.
  state              TEXT    CHECK (state = 'waiting' OR state = 'pending' OR state = 'delivered'
                                    OR state = 'failed' OR state = 'cancelled'),
  reason             TEXT,
  wait_until         INTEGER,                    -- when to decide about a waiting one again
  price_id           TEXT,
  price_mismatch     INTEGER NOT NULL DEFAULT 0,
  destination        TEXT,                       -- that `body` is for, which no other gets
  dictionary         INTEGER,                    -- of the body; see `events.dictionary`
  body               BLOB,                       -- what is sent; fixed when the receipt becomes ready
  -- Where the context begins in the uncompressed body, if it is a JSON string without escapes there.
  context_at         INTEGER,
  is_reversal        INTEGER NOT NULL DEFAULT 0, -- the body reports a reversal of a delivered purchase
  is_replay          INTEGER NOT NULL DEFAULT 0, -- an operator sent it again: new receipts go first
  attempts           INTEGER NOT NULL DEFAULT 0,
  spent_tries        INTEGER NOT NULL DEFAULT 0, -- attempts since it became ready or was replayed
  last_status        INTEGER,
  last_cause         TEXT,                       -- why the last attempt failed, such as `http_503`
  import_id          TEXT,
  created_at         INTEGER,
  ready_at           INTEGER,
  retry_since        INTEGER,                    -- ready or replayed: the retry budget counts from here
  paused_base_ms     INTEGER NOT NULL DEFAULT 0, -- the app's paused time at that moment
  next_attempt_at    INTEGER,
  delivered_at       INTEGER,
  note               TEXT,                       -- an operator's words
  CHECK ((state IS NULL) = (receipt_id IS NULL)),
  CHECK (state IS NULL OR state <> 'pending' OR (body IS NOT NULL AND next_attempt_at IS NOT NULL)),
  CHECK (state IS NULL OR state = 'pending' OR state = 'delivered' OR reason IS NOT NULL)
) STRICT;
-- Two processors may use the same id.
CREATE UNIQUE INDEX purchases_by_object ON purchases (object_id, app, object_type, processor);
-- Guesses that another purchase may still claim: few at any time, however many purchases a user has.
CREATE INDEX purchases_guessing ON purchases (user_id, app)
  WHERE context_source = 4 AND context_id IS NOT NULL AND body IS NULL;
-- Waits that end. By app: those of an app that is not configured are decided when it is configured again.
CREATE INDEX purchases_waits ON purchases (app, wait_until)
  WHERE state = 'waiting' AND wait_until IS NOT NULL;
-- What is due, by destination; new receipts and replays apart.
CREATE INDEX purchases_due ON purchases (app, destination, is_replay, next_attempt_at, retry_since)
  WHERE state = 'pending';
-- Receipts that are not due in the order in which they became ready: attempted, or rescheduled.
CREATE INDEX purchases_put_off ON purchases (app, retry_since)
  WHERE state = 'pending' AND next_attempt_at <> retry_since;
-- Every receipt is in one group, in the order of time: all lists are read from here, group by group, and
-- `receipt_counts` says which groups there are.
CREATE INDEX purchases_by_group ON purchases (app, state, reason, last_cause, processor, receipt_id)
  WHERE state IS NOT NULL;
CREATE INDEX purchases_by_import ON purchases (import_id) WHERE import_id IS NOT NULL;
-- Delivered receipts whose answer named no import id; not those of erased users, whose ids are gone.
CREATE INDEX purchases_without_import_id ON purchases (app, receipt_id)
  WHERE state = 'delivered' AND import_id IS NULL AND user_id IS NOT NULL;
-- Purchases without a receipt. Those that ended (bit 256 of their observations) separately, because
-- retention keeps them for longer.
CREATE INDEX purchases_noted ON purchases ((observations & 256), updated_at) WHERE state IS NULL;

-- The next number of what is numbered.
CREATE TABLE sequences (name TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO sequences (name, next) VALUES ('purchases', 1);

-- Webhook deliveries that carried a valid signature, and events that were fetched.
CREATE TABLE events (
  row_id       INTEGER PRIMARY KEY,
  app          TEXT    NOT NULL,
  processor    TEXT    NOT NULL,
  event_id     TEXT    NOT NULL,
  type         TEXT    NOT NULL,
  outcome      TEXT    NOT NULL,
  received_at  INTEGER NOT NULL,
  purchase_row INTEGER REFERENCES purchases (row_id) ON DELETE SET NULL,
  is_hint      INTEGER NOT NULL DEFAULT 0,       -- from an unknown sender: it only causes a fetch
  -- How `body` is stored: NULL as it was received; otherwise as one Zstandard frame that was made with this
  -- dictionary of the program (`BodyDictionary`). The bytes never decide that.
  dictionary   INTEGER,
  body         BLOB    NOT NULL
) STRICT;
CREATE UNIQUE INDEX events_by_id ON events (event_id, app, processor);
CREATE INDEX events_of_purchase ON events (purchase_row) WHERE purchase_row IS NOT NULL;
CREATE INDEX events_by_group ON events (app, processor, outcome, type);

-- Contexts that events named before they were posted: an app that cannot reach the relay opens the checkout
-- page with an id that it made. `source` is that of `purchases.context_source`; after `until` the context
-- cannot be posted any more.
CREATE TABLE awaited_contexts (
  context_id   TEXT    NOT NULL,
  app          TEXT    NOT NULL,
  purchase_row INTEGER NOT NULL,
  source       INTEGER NOT NULL,
  until        INTEGER NOT NULL,
  PRIMARY KEY (context_id, app, purchase_row)
) STRICT, WITHOUT ROWID;
CREATE INDEX awaited_contexts_by_purchase ON awaited_contexts (purchase_row);
CREATE INDEX awaited_contexts_until ON awaited_contexts (until);

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

-- 2. What purchases and contexts are found by.

-- Numbers that stand for ids (`RowKey`): the checkout, customer and user of a purchase; the user and the
-- text of a context. Each has a row of `purchases` or `contexts`. An index of random ids dirties a page for
-- each entry. A row may have been deleted, and two ids may have the same number, so the row that is found is
-- compared with the id.
CREATE TABLE keys (key INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (key, row)) STRICT, WITHOUT ROWID;

-- Newer keys, which are moved into `keys` in the order of that table.
CREATE TABLE recent_keys (
  key INTEGER NOT NULL, row INTEGER NOT NULL, PRIMARY KEY (key, row)
) STRICT, WITHOUT ROWID;

-- The newest keys, one row for each transaction, which are moved into `recent_keys` in order. An entry is key
-- and row, 8 bytes each, big-endian; the row is negative if it no longer has the key.
CREATE TABLE key_tail (number INTEGER PRIMARY KEY, entries BLOB NOT NULL) STRICT;

-- 3. The processors are asked and told.

-- Purchases that are looked up at the processor: their receipt waits for data, or an event only named them.
CREATE TABLE look_ups (
  purchase_row INTEGER PRIMARY KEY REFERENCES purchases (row_id) ON DELETE CASCADE,
  app          TEXT    NOT NULL,
  processor    TEXT    NOT NULL DEFAULT 'stripe',
  due_at       INTEGER NOT NULL,                 -- when to ask (again)
  tries        INTEGER NOT NULL,                 -- answers that did not help
  -- How many events named it since it was fetched; 0 if only its receipt waits.
  fetches      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX look_ups_due ON look_ups (app, processor, due_at);
-- Fetches without an answer.
CREATE INDEX look_ups_failed ON look_ups (app, processor, due_at) WHERE fetches > 0 AND tries > 0;

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

-- The users to whom customers of processors belong: the first who named one in a payment, in all apps of a
-- merchant's account at the processor. The configuration names the account; it is empty until receiptd knows
-- it. `payer` is `customer_id` without capitals and blanks at its ends. Retention keeps these rows, because
-- the processor keeps the customer's stored cards. An erasure replaces the ids by hashes.
CREATE TABLE payers (
  processor   TEXT NOT NULL,
  account     TEXT NOT NULL DEFAULT '',
  payer       TEXT NOT NULL DEFAULT '',
  app         TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  PRIMARY KEY (processor, account, payer, app, customer_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX payers_by_user ON payers (user_id, app);

-- Apps whose events since a moment must still be fetched from the processor, because receiptd was down.
CREATE TABLE backfills (
  app TEXT NOT NULL, processor TEXT NOT NULL, since INTEGER NOT NULL, PRIMARY KEY (app, processor)
) STRICT, WITHOUT ROWID;

-- 4. Receipts are delivered.

-- Attempts to deliver a receipt.
CREATE TABLE attempts (
  row_id       INTEGER PRIMARY KEY,
  purchase_row INTEGER NOT NULL REFERENCES purchases (row_id) ON DELETE CASCADE,
  number       INTEGER NOT NULL,
  app          TEXT    NOT NULL DEFAULT '',
  destination  TEXT    NOT NULL DEFAULT '',
  at           INTEGER NOT NULL,
  duration_ms  INTEGER NOT NULL,
  -- Empty if it was accepted within a second, `slow` if later, else why it failed.
  outcome      TEXT    NOT NULL DEFAULT '',
  status       INTEGER,
  error        TEXT,
  detail       TEXT,                             -- of the system, libcurl or OpenSSL, and the address
  ambiguous    INTEGER NOT NULL,                 -- sent, and no answer: it may have arrived
  response     BLOB    NOT NULL                  -- the answer's first 4 KiB
) STRICT;
CREATE UNIQUE INDEX attempts_of_purchase ON attempts (purchase_row, number);
-- Few attempts are in it: a delivery that goes well costs it nothing.
CREATE INDEX attempts_in_trouble ON attempts (row_id) WHERE outcome <> '';

-- Whether deliveries to a destination of an app may go. A destination that fails stops only its receipts.
CREATE TABLE breakers (
  app         TEXT    NOT NULL,
  destination TEXT    NOT NULL,
  state       TEXT    NOT NULL CHECK (state IN ('closed', 'open', 'paused')),
  failures    INTEGER NOT NULL,
  probe_at    INTEGER,
  rest_until  INTEGER,
  since       INTEGER,
  cause       TEXT,
  detail      TEXT,
  paused_ms   INTEGER NOT NULL,
  PRIMARY KEY (app, destination)
) STRICT, WITHOUT ROWID;

-- The apps whose deliveries an operator has held. A pause needs no step at its end: the times say whether it
-- is over.
CREATE TABLE pauses (
  app       TEXT    PRIMARY KEY,
  began_at  INTEGER NOT NULL,                    -- the present or last pause
  ends_at   INTEGER,                             -- its end; NULL while only an operator ends it
  actor     TEXT    NOT NULL,
  reason    TEXT,
  paused_ms INTEGER NOT NULL,                    -- the length of all earlier pauses
  retry_at  INTEGER                              -- when an operator last asked for attempts at once
) STRICT, WITHOUT ROWID;

-- 5. Numbers, so that a question does not cost more the more rows there are. Kept by the writer, once in each
-- transaction.

-- How many receipts each group has.
CREATE TABLE receipt_counts (
  app        TEXT    NOT NULL,
  state      TEXT    NOT NULL,
  reason     TEXT    NOT NULL,                   -- empty if there is none
  last_cause TEXT    NOT NULL,                   -- empty if there is none
  processor  TEXT    NOT NULL,
  count      INTEGER NOT NULL,
  entered    INTEGER NOT NULL DEFAULT 0,         -- how many ever entered it; counted for failed ones only
  PRIMARY KEY (app, state, reason, last_cause, processor)
) STRICT, WITHOUT ROWID;

-- How many receipts were delivered, and failed, in each minute (since 1970) of the last days.
CREATE TABLE delivery_counts (
  minute INTEGER NOT NULL, app TEXT NOT NULL, delivered INTEGER NOT NULL, failed INTEGER NOT NULL,
  PRIMARY KEY (minute, app)
) STRICT, WITHOUT ROWID;

-- How many receipts failed in each minute of the last days, and when the oldest of them was made.
CREATE TABLE failure_counts (
  minute     INTEGER NOT NULL,                   -- Unix minutes
  app        TEXT    NOT NULL,
  reason     TEXT    NOT NULL,
  last_cause TEXT    NOT NULL,                   -- empty if there is none
  count      INTEGER NOT NULL,
  made_since INTEGER NOT NULL,
  PRIMARY KEY (minute, app, reason, last_cause)
) STRICT, WITHOUT ROWID;

-- How long deliveries took, by logarithmic buckets (`Domain/LatencyBuckets.swift`). `kind`: 0 accepted
-- attempts, 1 failed ones, 2 from the payment to the delivery. `minutes` is the length of the slot that
-- begins at `slot`, in minutes since 1970: 5, and 60 when it is some hours old.
CREATE TABLE latencies (
  app         TEXT    NOT NULL,
  destination TEXT    NOT NULL,
  minutes     INTEGER NOT NULL,
  slot        INTEGER NOT NULL,
  kind        INTEGER NOT NULL,
  bucket      INTEGER NOT NULL,
  count       INTEGER NOT NULL,
  PRIMARY KEY (app, destination, minutes, slot, kind, bucket)
) STRICT, WITHOUT ROWID;

-- How receipts got their contexts, by the hour in which they were created; and contexts ('contexts'), and
-- those that no purchase claimed ('unclaimed'), by the hour in which they were received. A count follows its
-- row: when that changes or is deleted, it changes, too.
CREATE TABLE join_counts (
  app   TEXT    NOT NULL,
  hour  INTEGER NOT NULL,                        -- since 1970
  kind  TEXT    NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (app, hour, kind)
) STRICT, WITHOUT ROWID;

-- 6. Operators look, change and search.

-- Every change that an operator made, in the same transaction as the change. Never changed afterwards, except
-- where a user is erased.
CREATE TABLE audit (
  row_id  INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  actor   TEXT    NOT NULL,                      -- the operating system's user, or where else it came from
  action  TEXT    NOT NULL,                      -- the command, such as `receipts cancel`
  app     TEXT,
  subject TEXT,                                  -- what was changed: a receipt, an event, a job
  reason  TEXT,                                  -- the operator's words
  details TEXT    NOT NULL                       -- a JSON object
) STRICT;
CREATE INDEX audit_of_subject ON audit (subject) WHERE subject IS NOT NULL;

-- Work on many receipts that an operator asked for. It outlives the program that was asked: the next one
-- continues it.
CREATE TABLE jobs (
  row_id     INTEGER PRIMARY KEY,
  id         TEXT    NOT NULL,                   -- job_…; names its row: no index is needed
  kind       TEXT    NOT NULL CHECK (kind = 'replay' OR kind = 'cancel' OR kind = 'complete'),
  state      TEXT    NOT NULL CHECK (state = 'preparing' OR state = 'running' OR state = 'paused'
                                     OR state = 'done' OR state = 'cancelled'),
  asked      TEXT    NOT NULL,                   -- a JSON object: which receipts
  force      INTEGER NOT NULL,                   -- whether delivered ones are sent again
  price_id   TEXT,                               -- what receipts are completed with
  rate_milli INTEGER,                            -- receipts in 1000 s; NULL as fast as possible
  actor      TEXT    NOT NULL,
  reason     TEXT,                               -- the operator's words
  total      INTEGER NOT NULL,                   -- receipts that were chosen so far
  found_to   TEXT,                               -- where the search for more continues
  next_at_ns INTEGER,                            -- when the rate allows the next; Unix nanoseconds
  note       TEXT,                               -- why it ended, if nobody asked for that
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  ended_at   INTEGER                             -- when all its receipts had an outcome
) STRICT;
CREATE INDEX jobs_open ON jobs (row_id) WHERE ended_at IS NULL;

-- The receipts of a job, chosen once. Positions are negative: found from the newest to the oldest, released
-- from the oldest to the newest; each app's separately, so that one app's trouble does not delay the others.
CREATE TABLE job_receipts (
  job_row      INTEGER NOT NULL REFERENCES jobs (row_id),
  position     INTEGER NOT NULL,
  purchase_row INTEGER NOT NULL,                 -- may be gone
  app          TEXT    NOT NULL DEFAULT '',
  outcome      TEXT    NOT NULL CHECK (outcome = 'planned' OR outcome = 'released' OR outcome = 'delivered'
                                       OR outcome = 'failed' OR outcome = 'cancelled'
                                       OR outcome = 'skipped' OR outcome = 'gone'),
  reason       TEXT,
  PRIMARY KEY (job_row, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_receipts_of_purchase ON job_receipts (purchase_row);
CREATE INDEX job_receipts_under_way ON job_receipts (job_row, position, purchase_row)
  WHERE outcome = 'released';
CREATE INDEX job_receipts_planned ON job_receipts (job_row, app, position) WHERE outcome = 'planned';

-- How many receipts of a job have each outcome; the rest is planned. `reason` is empty if there is none.
CREATE TABLE job_counts (
  job_row INTEGER NOT NULL REFERENCES jobs (row_id), outcome TEXT NOT NULL, reason TEXT NOT NULL,
  count INTEGER NOT NULL, PRIMARY KEY (job_row, outcome, reason)
) STRICT, WITHOUT ROWID;

-- Groups of failures that somebody takes care of.
CREATE TABLE acknowledgements (
  app        TEXT    NOT NULL,
  processor  TEXT    NOT NULL,
  reason     TEXT    NOT NULL,
  last_cause TEXT    NOT NULL,                   -- empty if there is none
  entered    INTEGER NOT NULL,                   -- `receipt_counts.entered` at that moment
  owner      TEXT    NOT NULL,
  note       TEXT    NOT NULL,
  actor      TEXT    NOT NULL,
  at         INTEGER NOT NULL,
  PRIMARY KEY (app, processor, reason, last_cause)
) STRICT, WITHOUT ROWID;

-- The index of a search over what events and payments name; made from their rows while receiptd runs.
-- `key` is that of the hashes of addresses; `erasures` grows with each erasure: what was read before is void.
CREATE TABLE search_state (
  row_id INTEGER PRIMARY KEY CHECK (row_id = 1), key BLOB NOT NULL, erasures INTEGER NOT NULL
) STRICT;
-- A range of rows of `events` (family 0) or `purchases` (1); level 1 is made from runs of level 0.
CREATE TABLE search_runs (
  run       INTEGER PRIMARY KEY,
  family    INTEGER NOT NULL,
  level     INTEGER NOT NULL,
  first_row INTEGER NOT NULL,
  last_row  INTEGER NOT NULL,
  made_at   INTEGER NOT NULL,
  state     TEXT    NOT NULL CHECK (state = 'building' OR state = 'ready' OR state = 'dropped')
) STRICT;
-- Sorted entries: 8 bytes of a part of an id or of a hash, 5 of its row. `first` is the first key.
CREATE TABLE search_blocks (
  row_id INTEGER PRIMARY KEY, run INTEGER NOT NULL, first INTEGER NOT NULL, entries BLOB NOT NULL
) STRICT;
CREATE INDEX search_blocks_by_first ON search_blocks (run, first);

-- 7. Users are erased.

-- The key of the hashes that replace an erased user's ids, so that what comes again is recognised and nothing
-- else can be learned from it. Made with the first erasure.
CREATE TABLE erasure_key (row_id INTEGER PRIMARY KEY CHECK (row_id = 1), key BLOB NOT NULL) STRICT;

-- Hashes of the ids of erased users' customers, payments and other objects: a later event that names one is
-- stored without its body.
CREATE TABLE erased_ids (hash TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- 8. The service itself.

-- Which alerts were sent to whom, so that a restart repeats none, and reports the end of those that it
-- reported.
CREATE TABLE alerts (
  destination TEXT    NOT NULL,                  -- a digest of the address, which may be a secret
  condition   TEXT    NOT NULL,                  -- as the configuration has it, such as oldest_pending>15m
  app         TEXT    NOT NULL,                  -- empty if it is about the whole relay
  firing      INTEGER NOT NULL,                  -- what the last notice said: 1 it began, 0 it ended
  since       INTEGER NOT NULL,                  -- when the trouble began
  told_at     INTEGER NOT NULL,                  -- the last notice that it is firing
  unanswered  INTEGER NOT NULL DEFAULT 0,        -- the last notice was not answered: it is sent again at once
  PRIMARY KEY (destination, condition, app)
) STRICT, WITHOUT ROWID;

-- When receiptd last said that it serves, at most a minute ago while it does; one row.
CREATE TABLE service (row_id INTEGER PRIMARY KEY CHECK (row_id = 1), serves_at INTEGER NOT NULL) STRICT;

-- Reports of receiptd for receiptctl, which reads this file and does not ask the process. One row for each
-- kind of report (`health`, `reload`), a JSON object; the next report replaces it.
CREATE TABLE service_reports (
  name TEXT PRIMARY KEY, at INTEGER NOT NULL, content TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The key of the dashboard's form tokens and cookies, which all relays on this database share.
CREATE TABLE admin_key (row_id INTEGER PRIMARY KEY CHECK (row_id = 1), key BLOB NOT NULL) STRICT;
INSERT INTO admin_key (row_id, key) VALUES (1, randomblob(32));

-- Has a row while receiptd uses the file, and after it did not end cleanly: then a start needs the log.
CREATE TABLE file_marks (row_id INTEGER PRIMARY KEY CHECK (row_id = 1), changes INTEGER NOT NULL) STRICT;

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
