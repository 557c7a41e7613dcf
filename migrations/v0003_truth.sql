-- What the relay must know to tell the truth: why a purchase waits and how it came by its context, why
-- deliveries failed, and how the service itself is. Each part stands alone.

-- 1. The join.

-- 2. Deliveries and jobs.

-- 3. The service.

-- What receiptd reports of itself for receiptctl, which reads this file and does not ask the process. One row
-- for each kind of report, replaced by the next one.
CREATE TABLE service_reports (
  name    TEXT    PRIMARY KEY,                   -- `health` or `reload`
  at      INTEGER NOT NULL,
  content TEXT    NOT NULL                       -- a JSON object
) STRICT, WITHOUT ROWID;
