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
