-- What several programs on one database need.

-- Row numbers of purchases and contexts. A batch acquires them after its locks, so those of an app are in
-- the order of time.
CREATE SEQUENCE purchase_rows AS bigint;
CREATE SEQUENCE context_rows AS bigint;

-- One row for each app. A transaction that changes an app's rows locks it first, so the app has one writer
-- at a time, whichever program that is.
CREATE TABLE app_locks (
  app text COLLATE "C" PRIMARY KEY
);

-- The number of the last batch that each program has committed: one whose connection was lost during COMMIT
-- finds here whether that was stored. An update changes no index, so it stays on its page.
CREATE TABLE writers (
  id      bigint PRIMARY KEY,                    -- random; a program's connection has one as long as it lives
  batch   bigint NOT NULL,
  seen_at bigint NOT NULL                        -- Unix milliseconds
) WITH (fillfactor = 50);

-- Who delivers each app, and who does the work that one program does for all ('*'). No transaction that
-- stores events locks a row here: a program that hangs in one must not keep others from acquiring its apps.
CREATE TABLE leases (
  name       text COLLATE "C" PRIMARY KEY,       -- an app, or '*'
  owner      bigint,                             -- an instance; NULL if it gave the lease up
  epoch      bigint NOT NULL,                    -- grows with each new owner
  renewed_at bigint NOT NULL                     -- Unix milliseconds; others only watch whether it changes
) WITH (fillfactor = 50);

-- The running programs, for operators.
CREATE TABLE instances (
  id            bigint PRIMARY KEY,              -- random, as long as the program runs
  host          text COLLATE "C" NOT NULL,
  version       text COLLATE "C" NOT NULL,
  configuration text COLLATE "C" NOT NULL,       -- a digest of what it has read, without secrets
  started_at    bigint NOT NULL,
  seen_at       bigint NOT NULL,
  clock_ahead   bigint NOT NULL,                 -- milliseconds, compared with the database's clock
  queue_depth   bigint NOT NULL,
  is_notified   bigint NOT NULL,                 -- whether notifications arrive; poolers swallow them
  unreadiness   text COLLATE "C" NOT NULL,       -- why it is not ready, separated by spaces; empty if it is
  leases        text COLLATE "C" NOT NULL        -- what it may own, separated by spaces
) WITH (fillfactor = 50);
