-- What the console knows of its operators, in one row.
CREATE TABLE console (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    password    TEXT,    -- its hash, with the parameters; NULL: none is set
    password_ms INTEGER, -- when it was set
    opened_ms   INTEGER  -- when an operator first opened the console; NULL: never, and a first visit may set the box up
) STRICT;
-- A box from before this has an operator.
INSERT INTO console (id, opened_ms)
SELECT 1, iif(EXISTS (SELECT 1 FROM key) OR EXISTS (SELECT 1 FROM session), 0, NULL);
