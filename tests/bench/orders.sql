-- The table all workloads read: 1,000,000 rows of 10 columns of mixed types, about 215 MB.
CREATE TABLE orders (
    id bigint PRIMARY KEY,
    customer_id int NOT NULL,
    sku text NOT NULL,
    qty int NOT NULL,
    price numeric(12,2) NOT NULL,
    discount double precision,
    active boolean NOT NULL,
    note text,
    meta jsonb,
    updated_at timestamptz NOT NULL
);
INSERT INTO orders
SELECT n,
       (n::bigint * 6151) % 90000,
       'PART-' || to_char(n % 4800, 'FM000000'),
       n % 48,
       (n * 53 % 990000) / 100.0,
       CASE WHEN n % 9 = 0 THEN NULL ELSE (n % 90) / 11.0 END,
       n % 4 = 0,
       CASE WHEN n % 6 = 0 THEN NULL ELSE 'remark on order ' || n || ', packed with care and sent' END,
       jsonb_build_object('grade', n % 4, 'labels', jsonb_build_array('new', 'web'), 'rating', (n % 900) / 9.0),
       timestamptz '2023-06-01 00:00:00+00' + n * interval '1 second'
FROM generate_series(1, 1000000) AS n;
CREATE TABLE orders_dst (LIKE orders INCLUDING ALL);
ANALYZE orders;
