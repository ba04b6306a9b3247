-- A table whose changes are streamed: the first 200,000 orders. `changes_base` keeps them as they were before any
-- change, to reset a destination to.
CREATE TABLE changes_base AS SELECT * FROM orders WHERE id <= 200000;

-- Makes a fresh source, a publication and a slot named after the workload, all before its first change.
CREATE FUNCTION prepare_source(workload text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format('CREATE TABLE %I (LIKE orders INCLUDING ALL)', workload);
    EXECUTE format('INSERT INTO %I SELECT * FROM changes_base', workload);
    EXECUTE format('CREATE PUBLICATION %I FOR TABLE %I', workload, workload);
END $$;

-- Changes it in `transactions` transactions of `each` changes: 60 % updates, 30 % inserts, 10 % deletes. Updates
-- move through ids 60001..200000, deletes start at id 1, inserts at id 1000001: they never meet. The last
-- transaction inserts id 0, so that a reader can tell the end from one row.
CREATE PROCEDURE make_changes(workload text, transactions int, each int) LANGUAGE plpgsql AS $$
DECLARE
    updates int := each * 6 / 10;
    inserts int := each * 3 / 10;
    deletes int := each - each * 6 / 10 - each * 3 / 10;
    todo int;
    part int;
    first bigint;
    inserted bigint := 1000001;
    deleted bigint := 1;
BEGIN
    FOR turn IN 1..transactions LOOP
        todo := updates;
        first := 60001 + (turn::bigint * 6151) % 80000;
        WHILE todo > 0 LOOP
            part := least(todo, 60000);
            EXECUTE format('UPDATE %I SET qty = qty + 1, price = price + 0.01, '
                'updated_at = updated_at + interval ''1 minute'' WHERE id >= $1 AND id < $2', workload)
                USING first, first + part;
            todo := todo - part;
        END LOOP;
        EXECUTE format('INSERT INTO %I SELECT n, n %% 90000, ''PART-NEW'', n %% 48, (n %% 1000) / 10.0, (n %% 70) / 7.0, '
            'n %% 2 = 0, ''added '' || n, ''{"k": 1}'', now() FROM generate_series($1, $2) AS n', workload)
            USING inserted, inserted + inserts - 1;
        inserted := inserted + inserts;
        EXECUTE format('DELETE FROM %I WHERE id >= $1 AND id < $2', workload) USING deleted, deleted + deletes;
        deleted := deleted + deletes;
        COMMIT;
    END LOOP;
    EXECUTE format('INSERT INTO %I SELECT 0, 0, ''END'', 0, 0, NULL, false, NULL, NULL, now()', workload);
    COMMIT;
END $$;
