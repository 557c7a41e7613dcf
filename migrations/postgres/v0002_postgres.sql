-- Corrections of delivered receipts; see SQLite's migration.
ALTER TABLE purchases ADD COLUMN corrects text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE purchases ADD COLUMN corrected_by text COLLATE "C";
DROP INDEX purchases_by_object;
CREATE UNIQUE INDEX purchases_by_object ON purchases (object_id, app, object_type, processor, corrects);

ALTER TABLE jobs ADD COLUMN user_id text COLLATE "C";
ALTER TABLE jobs DROP CONSTRAINT jobs_kind_check;
ALTER TABLE jobs ADD CONSTRAINT jobs_kind_check CHECK (kind IN ('replay', 'cancel', 'complete', 'correct'));
