-- What operators do: the comments on these tables are in SQLite's schema.
CREATE TABLE pauses (
  app       text COLLATE "C" PRIMARY KEY,
  began_at  bigint NOT NULL,
  ends_at   bigint,
  actor     text COLLATE "C" NOT NULL,
  reason    text COLLATE "C",
  paused_ms bigint NOT NULL
);
ALTER TABLE receipt_counts ADD COLUMN entered bigint NOT NULL DEFAULT 0;
UPDATE receipt_counts SET entered = count;
CREATE TABLE acknowledgements (
  app        text COLLATE "C" NOT NULL,
  processor  text COLLATE "C" NOT NULL,
  reason     text COLLATE "C" NOT NULL,
  last_cause text COLLATE "C" NOT NULL,
  entered    bigint NOT NULL,
  owner      text COLLATE "C" NOT NULL,
  note       text COLLATE "C" NOT NULL,
  actor      text COLLATE "C" NOT NULL,
  at         bigint NOT NULL,
  PRIMARY KEY (app, processor, reason, last_cause)
);
