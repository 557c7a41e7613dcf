-- What operators do: the comments on this table are in SQLite's schema.
CREATE TABLE pauses (
  app       text COLLATE "C" PRIMARY KEY,
  began_at  bigint NOT NULL,
  ends_at   bigint,
  actor     text COLLATE "C" NOT NULL,
  reason    text COLLATE "C",
  paused_ms bigint NOT NULL
);
