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
