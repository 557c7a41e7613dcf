-- What several programs on one database need.

-- Row numbers of purchases and contexts: each program acquires them in blocks, so that several can store rows at
-- the same time. Their increment is `PostgresRows.blockSize`.
CREATE SEQUENCE purchase_rows AS bigint INCREMENT BY 64;
CREATE SEQUENCE context_rows AS bigint INCREMENT BY 64;

-- One row for each app. A transaction that changes an app's rows locks it first, so the app has one writer at a
-- time, whichever program that is.
CREATE TABLE app_locks (
  app text COLLATE "C" PRIMARY KEY
);

-- The number of the last batch that each program has committed: one whose connection was lost during COMMIT finds
-- here whether that was stored. An update changes no index, so it stays on its page.
CREATE TABLE writers (
  id      bigint PRIMARY KEY,                    -- random; a program's connection has one as long as it lives
  batch   bigint NOT NULL,
  seen_at bigint NOT NULL                        -- Unix milliseconds
) WITH (fillfactor = 50);
