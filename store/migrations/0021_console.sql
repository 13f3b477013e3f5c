-- What the console knows of its operators, in one row.
CREATE TABLE console (
    id          INTEGER PRIMARY KEY CHECK (id = 1),
    password    TEXT,    -- its hash, with the parameters; NULL: none is set
    password_ms INTEGER, -- when it was set
    opened_ms   INTEGER, -- when an operator first opened the console; NULL: never, and a first visit may set it up
    set_up_ms   INTEGER  -- when the box was set up; NULL: not yet
) STRICT;
-- A box from before this has an operator.
INSERT INTO console (id, opened_ms)
SELECT 1, iif(EXISTS (SELECT 1 FROM key) OR EXISTS (SELECT 1 FROM session), 0, NULL);
UPDATE console SET set_up_ms = opened_ms;
