-- What operators need: who changed what, and lists that stay quick however many rows there are.

-- Every change that a person made, in the same transaction as the change. Never changed afterwards, but where
-- a user is erased.
CREATE TABLE audit (
  row_id  INTEGER PRIMARY KEY,
  at      INTEGER NOT NULL,
  actor   TEXT    NOT NULL,                      -- the operating system's user, or where else it came from
  action  TEXT    NOT NULL,                      -- the command, such as `receipts cancel`
  app     TEXT,
  subject TEXT,                                  -- what was changed: a receipt, an event, a job
  reason  TEXT,                                  -- the person's words
  details TEXT    NOT NULL                       -- a JSON object
) STRICT;
CREATE INDEX audit_of_subject ON audit (subject) WHERE subject IS NOT NULL;

-- The row id, which ends every index, is the order of time: each group is a list in order.
CREATE INDEX events_by_group ON events (app, outcome, type);
CREATE INDEX contexts_by_app ON contexts (app);
-- All of a user's contexts, for the join and for operators; not only the unused ones, so that one that is
-- claimed changes one index less.
DROP INDEX contexts_unused_newest;
CREATE INDEX contexts_by_user ON contexts (user_id, app, posted_at);

-- The key of the hashes that stand in the place of a forgotten user's ids, so that what comes again is known
-- as such and nothing else can be told from it. Made with the first erasure.
CREATE TABLE erasure_key (
  row_id INTEGER PRIMARY KEY CHECK (row_id = 1),
  key    BLOB    NOT NULL
) STRICT;
-- Work on many receipts that a person asked for: it outlives the program that was asked, and goes on with
-- whichever comes next.
CREATE TABLE jobs (
  row_id       INTEGER PRIMARY KEY,
  id           TEXT    NOT NULL,                 -- job_…; names its row: no index is needed
  kind         TEXT    NOT NULL CHECK (kind = 'replay' OR kind = 'cancel' OR kind = 'complete'),
  state        TEXT    NOT NULL CHECK (state = 'preparing' OR state = 'running' OR state = 'paused'
                                       OR state = 'done' OR state = 'cancelled'),
  asked        TEXT    NOT NULL,                 -- a JSON object: which receipts
  force        INTEGER NOT NULL,                 -- whether delivered ones are sent again
  price_id     TEXT,                             -- what receipts are completed with
  rate_milli   INTEGER,                          -- receipts in 1000 s; NULL as fast as it goes
  actor        TEXT    NOT NULL,
  reason       TEXT,                             -- the person's words
  total        INTEGER NOT NULL,                 -- receipts that were chosen so far
  found_to     TEXT,                             -- where the search for more goes on
  released_to  INTEGER,                          -- the position of the last receipt that had its turn
  next_at_ns   INTEGER,                          -- when the rate allows the next; Unix nanoseconds
  note         TEXT,                             -- why it ended, where nobody asked for it
  created_at   INTEGER NOT NULL,
  updated_at   INTEGER NOT NULL,
  ended_at     INTEGER                           -- when nothing of it was left to come
) STRICT;
CREATE INDEX jobs_open ON jobs (row_id) WHERE ended_at IS NULL;

-- The receipts of a job, chosen once. Positions are negative: found from the newest to the oldest, taken from
-- the oldest to the newest.
CREATE TABLE job_receipts (
  job_row      INTEGER NOT NULL REFERENCES jobs (row_id),
  position     INTEGER NOT NULL,
  purchase_row INTEGER NOT NULL,                 -- may be gone
  outcome      TEXT    NOT NULL CHECK (outcome = 'planned' OR outcome = 'released' OR outcome = 'delivered'
                                       OR outcome = 'failed' OR outcome = 'cancelled'
                                       OR outcome = 'skipped' OR outcome = 'gone'),
  reason       TEXT,
  PRIMARY KEY (job_row, position)
) STRICT, WITHOUT ROWID;
CREATE INDEX job_receipts_of_purchase ON job_receipts (purchase_row);
CREATE INDEX job_receipts_under_way ON job_receipts (job_row, position, purchase_row)
  WHERE outcome = 'released';

-- How many receipts of a job came to what; the rest is planned.
CREATE TABLE job_counts (
  job_row INTEGER NOT NULL REFERENCES jobs (row_id),
  outcome TEXT    NOT NULL,
  reason  TEXT    NOT NULL,                      -- empty where there is none
  count   INTEGER NOT NULL,
  PRIMARY KEY (job_row, outcome, reason)
) STRICT, WITHOUT ROWID;

-- What was told to whom about which trouble, so that a restart repeats nothing and tells the end of what it
-- had told the beginning of.
CREATE TABLE alerts (
  destination TEXT    NOT NULL,                  -- a digest of the address, which may be a secret
  condition   TEXT    NOT NULL,                  -- as the configuration has it, such as oldest_pending>15m
  app         TEXT    NOT NULL,                  -- empty where it is about the whole relay
  firing      INTEGER NOT NULL,                  -- what was told last: 1 that it is there, 0 that it is over
  since       INTEGER NOT NULL,                  -- when the trouble began
  told_at     INTEGER NOT NULL,                  -- when it was last told that it is there
  PRIMARY KEY (destination, condition, app)
) STRICT, WITHOUT ROWID;

-- Receipts that wait for something that the processor can be asked for. One that lacks nothing has no row
-- here.
CREATE TABLE look_ups (
  purchase_row INTEGER PRIMARY KEY REFERENCES purchases (row_id) ON DELETE CASCADE,
  app          TEXT    NOT NULL,
  due_at       INTEGER NOT NULL,                 -- when to ask (again)
  tries        INTEGER NOT NULL                  -- answers that did not help
) STRICT;
CREATE INDEX look_ups_due ON look_ups (app, due_at);

-- When receiptd last said that it serves, at most a minute ago while it does; one row.
CREATE TABLE service (
  row_id    INTEGER PRIMARY KEY CHECK (row_id = 1),
  serves_at INTEGER NOT NULL
) STRICT;

-- Apps whose events from a moment on are still to be fetched from the processor, because receiptd was down.
CREATE TABLE backfills (
  app   TEXT    PRIMARY KEY,
  since INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is pending is as old as its retry budget: a receipt that was replayed is new again.
DROP INDEX purchases_put_off;
CREATE INDEX purchases_put_off ON purchases (app, retry_since)
  WHERE state = 'pending' AND next_attempt_at <> retry_since;
