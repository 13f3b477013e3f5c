-- What text-to-speech has made: what it takes to make it again, and no sound.

CREATE TABLE generation (
    num        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    account    INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    created_ms INTEGER NOT NULL,
    body       TEXT    NOT NULL CHECK (json_valid(body)),
    bytes      INTEGER NOT NULL GENERATED ALWAYS AS (octet_length(body) + 200) STORED -- 200 for the row beside it
) STRICT;
CREATE INDEX generation_account ON generation (account, num, bytes);
CREATE INDEX generation_created ON generation (created_ms);
