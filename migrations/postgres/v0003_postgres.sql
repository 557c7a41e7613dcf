-- Receipts for two destinations; see SQLite's migration.
ALTER TABLE purchases ADD COLUMN copy_of text COLLATE "C";
ALTER TABLE purchases ADD COLUMN copy_for text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE purchases ADD COLUMN copied_by text COLLATE "C";
ALTER TABLE purchases ADD COLUMN copied_for text COLLATE "C";
DROP INDEX purchases_by_object;
CREATE UNIQUE INDEX purchases_by_object
  ON purchases (object_id, app, object_type, processor, corrects, copy_for);
