-- Corrections of delivered receipts; see SQLite's migration.
ALTER TABLE purchases ADD COLUMN corrects text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE purchases ADD COLUMN corrected_by text COLLATE "C";
DROP INDEX purchases_by_object;
CREATE UNIQUE INDEX purchases_by_object ON purchases (object_id, app, object_type, processor, corrects);

ALTER TABLE jobs ADD COLUMN user_id text COLLATE "C";
ALTER TABLE jobs DROP CONSTRAINT jobs_kind_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_kind_check CHECK (kind IN ('replay', 'cancel', 'complete', 'correct'));

-- Whose purchase is it. SQLite's file explains the columns.

CREATE TABLE claims (
  id           text COLLATE "C" PRIMARY KEY,
  hash         bytea NOT NULL,
  app          text COLLATE "C" NOT NULL,
  purchase_row bigint NOT NULL REFERENCES purchases (row_id) ON DELETE CASCADE,
  origin       text COLLATE "C" NOT NULL,
  actor        text COLLATE "C",
  offered_at   bigint NOT NULL,
  expires_at   bigint NOT NULL,
  ended_at     bigint,
  user_id      text COLLATE "C",
  CHECK (user_id IS NULL OR ended_at IS NOT NULL)
);
CREATE UNIQUE INDEX claims_by_hash ON claims (hash);
CREATE INDEX claims_of_purchase ON claims (purchase_row);
CREATE INDEX claims_by_user ON claims (user_id, app) WHERE user_id IS NOT NULL;
CREATE TABLE claim_key (row_id bigint PRIMARY KEY CHECK (row_id = 1), key bytea NOT NULL);

CREATE TABLE announcements (
  purchase_row bigint PRIMARY KEY REFERENCES purchases (row_id) ON DELETE CASCADE,
  app          text COLLATE "C" NOT NULL,
  since        bigint NOT NULL,
  due_at       bigint NOT NULL,
  attempts     bigint NOT NULL
);
CREATE INDEX announcements_due ON announcements (app, due_at);

-- Whose purchase it is. The comments in SQLite's version say what the columns and tables mean.

ALTER TABLE purchases ADD COLUMN other_names text COLLATE "C";
ALTER TABLE purchases ADD COLUMN user_conflict bigint NOT NULL DEFAULT 0;
ALTER TABLE purchases ADD COLUMN unmatched bigint NOT NULL DEFAULT 0;
UPDATE purchases SET unmatched = 1
WHERE state IS NULL AND user_id IS NULL AND (observations & 256) = 0 AND object_id NOT LIKE 'erased:%'
  AND ((observations & 1) <> 0 OR (observations & 32) <> 0 OR (observations & 18) = 16);
CREATE INDEX purchases_in_conflict ON purchases (app, receipt_id) WHERE user_conflict = 1;
CREATE INDEX purchases_unmatched ON purchases (app, updated_at) WHERE unmatched = 1;

CREATE TABLE customer_users (
  customer_id text COLLATE "C" NOT NULL,
  app         text COLLATE "C" NOT NULL,
  processor   text COLLATE "C" NOT NULL,
  source      bigint NOT NULL,
  user_id     text COLLATE "C" NOT NULL,
  at          bigint NOT NULL,
  PRIMARY KEY (customer_id, app, processor, source, user_id)
);
CREATE INDEX customer_users_by_user ON customer_users (user_id, app);
CREATE INDEX customer_users_at ON customer_users (at);
