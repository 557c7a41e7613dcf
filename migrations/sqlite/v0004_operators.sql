-- What operators do.

-- The apps whose deliveries an operator has held. A pause needs no step at its end: the times say whether it
-- is over.
CREATE TABLE pauses (
  app       TEXT    PRIMARY KEY,
  began_at  INTEGER NOT NULL,                    -- the present or last pause
  ends_at   INTEGER,                             -- its end; NULL while only an operator ends it
  actor     TEXT    NOT NULL,
  reason    TEXT,
  paused_ms INTEGER NOT NULL                     -- the length of all earlier pauses
) STRICT, WITHOUT ROWID;
-- How many receipts have ever entered the group; counted for the state failed only.
ALTER TABLE receipt_counts ADD COLUMN entered INTEGER NOT NULL DEFAULT 0;
UPDATE receipt_counts SET entered = count;
-- Groups of failures that somebody takes care of.
CREATE TABLE acknowledgements (
  app        TEXT    NOT NULL,
  processor  TEXT    NOT NULL,
  reason     TEXT    NOT NULL,
  last_cause TEXT    NOT NULL,                   -- empty where there is none
  entered    INTEGER NOT NULL,                   -- `receipt_counts.entered` at that moment
  owner      TEXT    NOT NULL,
  note       TEXT    NOT NULL,
  actor      TEXT    NOT NULL,
  at         INTEGER NOT NULL,
  PRIMARY KEY (app, processor, reason, last_cause)
) STRICT, WITHOUT ROWID;
