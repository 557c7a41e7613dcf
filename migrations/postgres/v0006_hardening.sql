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
