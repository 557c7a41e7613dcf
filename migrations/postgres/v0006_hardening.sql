-- Who owns a payer, which data was erased, and how the last run ended.

ALTER TABLE payers ADD COLUMN account text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE payers ADD COLUMN payer text COLLATE "C" NOT NULL DEFAULT '';
UPDATE payers SET payer = customer_id;
ALTER TABLE payers DROP CONSTRAINT payers_pkey;
ALTER TABLE payers ADD PRIMARY KEY (processor, account, payer, app, customer_id);

CREATE TABLE erased_ids (hash text COLLATE "C" PRIMARY KEY);

-- The key of the dashboard's form tokens and cookies, which all relays on this database share. Two random
-- UUIDs have 244 random bits.
CREATE TABLE admin_key (row_id bigint PRIMARY KEY CHECK (row_id = 1), key bytea NOT NULL);
INSERT INTO admin_key (row_id, key)
  VALUES (1, decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));

-- When an operator last asked to try an app's deliveries again at once (AppPause.retryAt).
ALTER TABLE pauses ADD COLUMN retry_at BIGINT;

-- That a program lives: one small row for each, updated twice a second, renews all its leases. An open
-- snapshot keeps every version of an updated row, so a row for each lease would soon be slow to find.
CREATE TABLE heartbeats (
  id   bigint PRIMARY KEY,                       -- of `instances`
  beat bigint NOT NULL                           -- counts up; it begins again if the row was deleted
) WITH (fillfactor = 50);

-- A keyed digest of its secrets. No default, on purpose: a program of an older version, which would renew its
-- leases row by row and see those of others as abandoned, can then report nothing, and owns nothing.
DELETE FROM instances;
ALTER TABLE instances ADD COLUMN secrets text COLLATE "C" NOT NULL;
