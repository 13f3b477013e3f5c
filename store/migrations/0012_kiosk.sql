-- Screens that talk to one assistant: the key of one is bound to a config, empty
-- for the box's own assistant; a key of NULL is none of a screen.
ALTER TABLE key ADD COLUMN kiosk TEXT;

-- Screens that are still to be paired, by the SHA-256 of their code. One that is
-- past its time is deleted when the next one is begun.
CREATE TABLE pairing (
    hash       BLOB    NOT NULL PRIMARY KEY,
    account    INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    config     TEXT    NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX pairing_account ON pairing (account);
