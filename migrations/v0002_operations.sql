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

-- Asking the processor.

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
