-- Access tokens, by the SHA-256 of each. One that is past its time is deleted
-- when the next one is made; one whose key is revoked or regenerated, with it.
CREATE TABLE token (
    hash       BLOB    NOT NULL PRIMARY KEY,
    key        INTEGER NOT NULL REFERENCES key ON DELETE CASCADE,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX token_key     ON token (key);
CREATE INDEX token_expires ON token (expires_ms);
