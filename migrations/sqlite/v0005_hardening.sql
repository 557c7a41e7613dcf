-- Who owns a payer, which data was erased, and how the last run ended.

-- A payer belongs to one user in all apps of a merchant's account at the processor, which is empty until
-- receiptd knows it: the configuration names it. `payer` is `customer_id` without capitals and blanks at its
-- ends.
CREATE TABLE payers_of_accounts (
  processor   TEXT NOT NULL,
  account     TEXT NOT NULL DEFAULT '',
  payer       TEXT NOT NULL DEFAULT '',
  app         TEXT NOT NULL,
  customer_id TEXT NOT NULL,
  user_id     TEXT NOT NULL,
  PRIMARY KEY (processor, account, payer, app, customer_id)
) STRICT, WITHOUT ROWID;
INSERT INTO payers_of_accounts (processor, payer, app, customer_id, user_id)
  SELECT processor, customer_id, app, customer_id, user_id FROM payers;
DROP TABLE payers;
ALTER TABLE payers_of_accounts RENAME TO payers;
CREATE INDEX payers_by_user ON payers (user_id, app);

-- Hashes of the ids of erased users' customers, payments and other objects: a later event that names one is
-- stored without its body.
CREATE TABLE erased_ids (hash TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Has a row while receiptd uses the file, and after it did not end cleanly: then a start needs the log.
CREATE TABLE file_marks (
  row_id  INTEGER PRIMARY KEY CHECK (row_id = 1),
  changes INTEGER NOT NULL
) STRICT;

-- The key of the dashboard's form tokens and cookies, which all relays on this database share.
CREATE TABLE admin_key (row_id INTEGER PRIMARY KEY CHECK (row_id = 1), key BLOB NOT NULL) STRICT;
INSERT INTO admin_key (row_id, key) VALUES (1, randomblob(32));

-- When an operator last asked to try an app's deliveries again at once (AppPause.retryAt).
ALTER TABLE pauses ADD COLUMN retry_at INTEGER;
