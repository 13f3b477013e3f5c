-- Voices that accounts have saved: what they are made of, which is voices of the
-- library and what is done to them.

CREATE TABLE voice (
    num        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    account    INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    folded     TEXT    NOT NULL, -- the name in small letters: no two of an account are the same
    recipe     TEXT    NOT NULL CHECK (json_valid(recipe)),
    created_ms INTEGER NOT NULL,
    bytes      INTEGER NOT NULL GENERATED ALWAYS AS (octet_length(recipe) + 300) STORED, -- 300 for the row beside it
    UNIQUE (account, folded)
) STRICT;
CREATE INDEX voice_account ON voice (account, num, bytes);
