-- What the relay must know to tell the truth: why a purchase waits and how it came by its context, why
-- deliveries failed, and how the service itself is. Each part stands alone.

-- 1. The join.

-- 2. Deliveries and jobs.

-- 3. The service.
