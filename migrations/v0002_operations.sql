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
