-- Receipts for two destinations. The copy for the second one is another row of the same object, like a
-- correction; the join finds the row that is neither.
ALTER TABLE purchases ADD COLUMN copy_of TEXT;                       -- the purchase's own receipt
ALTER TABLE purchases ADD COLUMN copy_for TEXT NOT NULL DEFAULT '';  -- the copy's destination; empty for none
ALTER TABLE purchases ADD COLUMN copied_by TEXT;                     -- in the own row: the copy
ALTER TABLE purchases ADD COLUMN copied_for TEXT;                    -- in the own row: the copy's destination
DROP INDEX purchases_by_object;
-- One receipt for each purchase and destination.
CREATE UNIQUE INDEX purchases_by_object
  ON purchases (object_id, app, object_type, processor, corrects, copy_for);
