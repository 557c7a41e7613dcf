-- Corrections of delivered receipts. A correction is a second row of the same object. The join never finds
-- it by that: it finds the row that corrects nothing.
ALTER TABLE purchases ADD COLUMN corrects TEXT NOT NULL DEFAULT '';  -- the corrected receipt; empty for none
ALTER TABLE purchases ADD COLUMN corrected_by TEXT;                  -- the receipt that corrects this one
DROP INDEX purchases_by_object;
CREATE UNIQUE INDEX purchases_by_object ON purchases (object_id, app, object_type, processor, corrects);

-- The user for whom a job corrects receipts; NULL if it keeps their users, or if that one was erased.
ALTER TABLE jobs ADD COLUMN user_id TEXT;
-- One more kind. A column takes its CHECK with it, so the tables that refer to jobs need not be rebuilt.
ALTER TABLE jobs ADD COLUMN new_kind TEXT NOT NULL DEFAULT 'replay'
  CHECK (new_kind = 'replay' OR new_kind = 'cancel' OR new_kind = 'complete' OR new_kind = 'correct');
UPDATE jobs SET new_kind = kind;
ALTER TABLE jobs DROP COLUMN kind;
ALTER TABLE jobs RENAME COLUMN new_kind TO kind;

-- Whose purchase is it: claims.

-- Claims: a paid purchase that names no user becomes the user's who brings a claim's token. A claim that is
-- neither used nor revoked has expired after `expires_at`.
CREATE TABLE claims (
  id           TEXT    PRIMARY KEY,              -- claim_…; its order is that of time
  hash         BLOB    NOT NULL,                 -- of the token, which is not stored, with `claim_key`
  app          TEXT    NOT NULL,
  purchase_row INTEGER NOT NULL REFERENCES purchases (row_id) ON DELETE CASCADE,
  origin       TEXT    NOT NULL,                 -- who made it: page, operator, webhook
  actor        TEXT,                             -- the operator, as in the audit
  offered_at   INTEGER NOT NULL,
  expires_at   INTEGER NOT NULL,
  ended_at     INTEGER,                          -- when it was used or revoked
  user_id      TEXT,                             -- who used it
  CHECK (user_id IS NULL OR ended_at IS NOT NULL)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX claims_by_hash ON claims (hash);
CREATE INDEX claims_of_purchase ON claims (purchase_row);
CREATE INDEX claims_by_user ON claims (user_id, app) WHERE user_id IS NOT NULL;
-- Made with the first claim.
CREATE TABLE claim_key (row_id INTEGER PRIMARY KEY CHECK (row_id = 1), key BLOB NOT NULL) STRICT;

-- Paid purchases without a user that the app's webhook shall learn of, until it accepts that.
CREATE TABLE announcements (
  purchase_row INTEGER PRIMARY KEY REFERENCES purchases (row_id) ON DELETE CASCADE,
  app          TEXT    NOT NULL,
  since        INTEGER NOT NULL,
  due_at       INTEGER NOT NULL,                 -- the next attempt
  attempts     INTEGER NOT NULL
) STRICT;
CREATE INDEX announcements_due ON announcements (app, due_at);

-- Whose purchase it is. PostgreSQL's version has the same columns and tables.

-- The users besides `user_id` that sources named, one to a line: standing, a space, source, a tab, the id.
-- `standing`: 0 the name counts, 1 a reference that is no user of the app, 2 a text that never is a user.
-- `source` is that of `user_source`. A purchase is found by each of them (`keys`).
ALTER TABLE purchases ADD COLUMN other_names TEXT;
-- 1 if two sources that count name different users.
ALTER TABLE purchases ADD COLUMN user_conflict INTEGER NOT NULL DEFAULT 0;
-- 1 if it is paid, may be the app's, names nobody, and so has no receipt.
ALTER TABLE purchases ADD COLUMN unmatched INTEGER NOT NULL DEFAULT 0;
-- The bits are those of `Observations`: paid 1, promised 2, began 16, first payment made 32, ended 256.
UPDATE purchases SET unmatched = 1
WHERE state IS NULL AND user_id IS NULL AND (observations & 256) = 0 AND object_id NOT LIKE 'erased:%'
  AND ((observations & 1) <> 0 OR (observations & 32) <> 0 OR (observations & 18) = 16);
CREATE INDEX purchases_in_conflict ON purchases (app, receipt_id) WHERE user_conflict = 1;
CREATE INDEX purchases_unmatched ON purchases (app, updated_at) WHERE unmatched = 1;

-- The users of a processor's customers that events without a purchase named. `source` is that of
-- `purchases.user_source`; `at` is when it happened by the processor's clock.
CREATE TABLE customer_users (
  customer_id TEXT    NOT NULL,
  app         TEXT    NOT NULL,
  processor   TEXT    NOT NULL,
  source      INTEGER NOT NULL,
  user_id     TEXT    NOT NULL,
  at          INTEGER NOT NULL,
  PRIMARY KEY (customer_id, app, processor, source, user_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX customer_users_by_user ON customer_users (user_id, app);
CREATE INDEX customer_users_at ON customer_users (at);
