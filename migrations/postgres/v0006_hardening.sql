-- What strangers' reports asked the store to remember.

ALTER TABLE payers ADD COLUMN account text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE payers ADD COLUMN payer text COLLATE "C" NOT NULL DEFAULT '';
UPDATE payers SET payer = customer_id;
ALTER TABLE payers DROP CONSTRAINT payers_pkey;
ALTER TABLE payers ADD PRIMARY KEY (processor, account, payer, app, customer_id);

CREATE TABLE erased_ids (hash text COLLATE "C" PRIMARY KEY);
