-- The schema for PostgreSQL 13 and later: what SQLite's has at its version 3. The comments there say what
-- the columns mean. Numbers are bigint, also truth values, because the statements are the same. Texts are
-- compared byte by byte, as in SQLite: COLLATE "C", whatever the database's locale is.

CREATE TABLE schema_version (
  version     bigint NOT NULL,
  usable_from bigint NOT NULL                    -- the oldest version whose programs may still use it
);
INSERT INTO schema_version (version, usable_from) VALUES (1, 1);

CREATE TABLE dictionaries (
  number     bigint PRIMARY KEY,
  kind       text COLLATE "C" NOT NULL CHECK (kind IN ('event', 'receipt')),
  made_at    bigint NOT NULL,
  content    bytea  NOT NULL,
  digest     bytea  NOT NULL,
  passed_row bigint NOT NULL
);

CREATE TABLE sequences (
  name text COLLATE "C" PRIMARY KEY,
  next bigint NOT NULL
);

CREATE TABLE contexts (
  row_id       bigint PRIMARY KEY,
  id           text COLLATE "C" NOT NULL UNIQUE,
  app          text COLLATE "C" NOT NULL,
  user_id      text COLLATE "C" NOT NULL,
  ply_context  text COLLATE "C" NOT NULL,
  digest       bytea  NOT NULL,
  price_id     text COLLATE "C",
  received_at  bigint NOT NULL,
  posted_at    bigint NOT NULL,
  expires_at   bigint NOT NULL,
  purchase_row bigint,
  frame        bytea,
  dictionary   bigint REFERENCES dictionaries (number)
);
CREATE INDEX contexts_by_app ON contexts (app, row_id);

CREATE TABLE purchases (
  row_id             bigint PRIMARY KEY,
  app                text COLLATE "C" NOT NULL,
  object_type        text COLLATE "C" NOT NULL,
  object_id          text COLLATE "C" NOT NULL,
  session_id         text COLLATE "C",
  observations       bigint NOT NULL,
  customer_id        text COLLATE "C",
  user_id            text COLLATE "C",
  user_source        bigint,
  prices             text COLLATE "C" NOT NULL,
  prices_of_checkout bigint NOT NULL,
  context_id         text COLLATE "C",
  ply_context        text COLLATE "C",
  context_price_id   text COLLATE "C",
  happened_at        bigint NOT NULL,
  first_seen_at      bigint NOT NULL,
  bought_at          bigint,
  updated_at         bigint NOT NULL,
  receipt_id         text COLLATE "C",
  state              text COLLATE "C" CHECK (
    state IN ('waiting', 'pending', 'delivered', 'failed', 'cancelled')),
  reason             text COLLATE "C",
  wait_until         bigint,
  price_id           text COLLATE "C",
  price_mismatch     bigint NOT NULL DEFAULT 0,
  body               bytea,
  attempts           bigint NOT NULL DEFAULT 0,
  spent_tries        bigint NOT NULL DEFAULT 0,
  last_status        bigint,
  import_id          text COLLATE "C",
  created_at         bigint,
  ready_at           bigint,
  retry_since        bigint,
  paused_base_ms     bigint NOT NULL DEFAULT 0,
  next_attempt_at    bigint,
  delivered_at       bigint,
  note               text COLLATE "C",
  context_source     bigint,
  context_disputed   bigint NOT NULL DEFAULT 0,
  last_cause         text COLLATE "C",
  is_replay          bigint NOT NULL DEFAULT 0,
  processor          text COLLATE "C" NOT NULL,
  payment            text COLLATE "C",
  destination        text COLLATE "C",
  is_reversal        bigint NOT NULL DEFAULT 0,
  dictionary         bigint REFERENCES dictionaries (number),
  context_at         bigint,
  CHECK ((state IS NULL) = (receipt_id IS NULL)),
  CHECK (state IS NULL OR state <> 'pending' OR (body IS NOT NULL AND next_attempt_at IS NOT NULL)),
  CHECK (state IS NULL OR state = 'pending' OR state = 'delivered' OR reason IS NOT NULL)
);
CREATE UNIQUE INDEX purchases_by_object ON purchases (object_id, app, object_type, processor);
CREATE INDEX purchases_by_import ON purchases (import_id) WHERE import_id IS NOT NULL;
CREATE INDEX purchases_due ON purchases (app, destination, is_replay, next_attempt_at, retry_since)
  WHERE state = 'pending';
CREATE INDEX purchases_put_off ON purchases (app, retry_since)
  WHERE state = 'pending' AND next_attempt_at <> retry_since;
CREATE INDEX purchases_waits ON purchases (app, wait_until)
  WHERE state = 'waiting' AND wait_until IS NOT NULL;
CREATE INDEX purchases_by_group ON purchases (app, state, reason, last_cause, processor, receipt_id)
  WHERE state IS NOT NULL;
CREATE INDEX purchases_noted ON purchases ((observations & 256), updated_at) WHERE state IS NULL;
CREATE INDEX purchases_guessing ON purchases (user_id, app)
  WHERE context_source = 5 AND context_id IS NOT NULL AND body IS NULL;
CREATE INDEX purchases_without_import_id ON purchases (app, receipt_id)
  WHERE state = 'delivered' AND import_id IS NULL AND user_id IS NOT NULL;

CREATE TABLE past_purchases (
  row_id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  object_id text COLLATE "C" NOT NULL,
  app       text COLLATE "C" NOT NULL,
  processor text COLLATE "C" NOT NULL,
  until     bigint NOT NULL
);
CREATE UNIQUE INDEX past_purchases_by_object ON past_purchases (object_id, app, processor);
CREATE INDEX past_purchases_until ON past_purchases (until);

CREATE TABLE events (
  row_id       bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  app          text COLLATE "C" NOT NULL,
  processor    text COLLATE "C" NOT NULL,
  event_id     text COLLATE "C" NOT NULL,
  type         text COLLATE "C" NOT NULL,
  outcome      text COLLATE "C" NOT NULL,
  received_at  bigint NOT NULL,
  purchase_row bigint REFERENCES purchases (row_id) ON DELETE SET NULL,
  body         bytea  NOT NULL,
  is_hint      bigint NOT NULL DEFAULT 0,
  dictionary   bigint REFERENCES dictionaries (number)
);
CREATE UNIQUE INDEX events_by_id ON events (event_id, app, processor);
CREATE INDEX events_of_purchase ON events (purchase_row) WHERE purchase_row IS NOT NULL;
-- SQLite ends every index with the row id.
CREATE INDEX events_by_group ON events (app, processor, outcome, type, row_id);

CREATE TABLE attempts (
  row_id       bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
  purchase_row bigint NOT NULL REFERENCES purchases (row_id) ON DELETE CASCADE,
  number       bigint NOT NULL,
  at           bigint NOT NULL,
  duration_ms  bigint NOT NULL,
  status       bigint,
  error        text COLLATE "C",
  ambiguous    bigint NOT NULL,
  response     bytea  NOT NULL,
  detail       text COLLATE "C"
);
CREATE UNIQUE INDEX attempts_of_purchase ON attempts (purchase_row, number);

CREATE TABLE breakers (
  app         text COLLATE "C" NOT NULL,
  destination text COLLATE "C" NOT NULL,
  state       text COLLATE "C" NOT NULL CHECK (state IN ('closed', 'open', 'paused')),
  failures    bigint NOT NULL,
  probe_at    bigint,
  rest_until  bigint,
  since       bigint,
  cause       text COLLATE "C",
  paused_ms   bigint NOT NULL,
  detail      text COLLATE "C",
  PRIMARY KEY (app, destination)
);

CREATE TABLE receipt_counts (
  app        text COLLATE "C" NOT NULL,
  state      text COLLATE "C" NOT NULL,
  reason     text COLLATE "C" NOT NULL,
  last_cause text COLLATE "C" NOT NULL,
  processor  text COLLATE "C" NOT NULL,
  count      bigint NOT NULL,
  PRIMARY KEY (app, state, reason, last_cause, processor)
);

CREATE TABLE delivery_counts (
  minute    bigint NOT NULL,
  app       text COLLATE "C" NOT NULL,
  delivered bigint NOT NULL,
  failed    bigint NOT NULL,
  PRIMARY KEY (minute, app)
);

CREATE TABLE failure_counts (
  minute     bigint NOT NULL,
  app        text COLLATE "C" NOT NULL,
  reason     text COLLATE "C" NOT NULL,
  last_cause text COLLATE "C" NOT NULL,
  count      bigint NOT NULL,
  made_since bigint NOT NULL,
  PRIMARY KEY (minute, app, reason, last_cause)
);

-- Numbers that stand for ids (`RowKey`), as in SQLite.
CREATE TABLE keys (
  key bigint NOT NULL,
  row bigint NOT NULL,
  PRIMARY KEY (key, row)
);
