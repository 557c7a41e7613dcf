-- What operators do and look for.

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

-- The index of a search over what events and payments name; made from their rows while receiptd runs.
-- `key` is that of the hashes of addresses; `erasures` grows with each erasure: what was read before is void.
CREATE TABLE search_state (row_id INTEGER PRIMARY KEY CHECK (row_id = 1), key BLOB NOT NULL,
  erasures INTEGER NOT NULL) STRICT;
-- A range of rows of `events` (family 0) or `purchases` (1); level 1 is made from runs of level 0.
CREATE TABLE search_runs (
  run INTEGER PRIMARY KEY, family INTEGER NOT NULL, level INTEGER NOT NULL, first_row INTEGER NOT NULL,
  last_row INTEGER NOT NULL, made_at INTEGER NOT NULL, state TEXT NOT NULL
    CHECK (state = 'building' OR state = 'ready' OR state = 'dropped')) STRICT;
-- Sorted entries: 8 bytes of a part of an id or of a hash, 5 of its row. `first` is the first key.
CREATE TABLE search_blocks (row_id INTEGER PRIMARY KEY, run INTEGER NOT NULL, first INTEGER NOT NULL,
  entries BLOB NOT NULL) STRICT;
CREATE INDEX search_blocks_by_first ON search_blocks (run, first);

-- Where an attempt went, and how it ended: empty if it was accepted within a second, `slow` if later, else
-- why it failed. Attempts of older versions went to the destination of their receipt.
ALTER TABLE attempts ADD COLUMN app TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN destination TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN outcome TEXT NOT NULL DEFAULT '';
UPDATE attempts SET app = p.app, destination = coalesce(p.destination, 'purchasely'),
  outcome = CASE
    WHEN error = 'html_answer' OR error = 'error_answer' THEN error
    WHEN status IS NULL THEN coalesce(error, 'no_answer')
    WHEN status < 200 OR status > 299 THEN 'http_' || status
    WHEN duration_ms >= 1000 THEN 'slow'
    ELSE '' END
  FROM purchases p WHERE p.row_id = attempts.purchase_row;
-- Few attempts are in it: a delivery that goes well costs it nothing.
CREATE INDEX attempts_in_trouble ON attempts (row_id) WHERE outcome <> '';

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

-- Among how many contexts a guess was chosen; NULL for guesses of older versions.
ALTER TABLE purchases ADD COLUMN context_candidates INTEGER;
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
INSERT INTO join_counts (app, hour, kind, count)
  SELECT app, created_at / 3600000,
    CASE WHEN context_disputed <> 0 THEN 'disputed'
         WHEN ply_context IS NULL AND context_at IS NULL THEN 'none'
         WHEN context_source IS NOT 5 THEN 'exact'
         ELSE 'guessed' END, count(*)
  FROM purchases
  WHERE (ready_at IS NOT NULL OR (state = 'waiting' AND reason = 'context')) AND object_id NOT LIKE 'erased:%'
  GROUP BY 1, 2, 3
  UNION ALL SELECT app, received_at / 3600000, 'contexts', count(*) FROM contexts GROUP BY 1, 2
  UNION ALL SELECT app, received_at / 3600000, 'unclaimed', count(*) FROM contexts
    WHERE purchase_row IS NULL GROUP BY 1, 2;

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
