-- Who is signed in to the console: a browser, by the SHA-256 of what its cookie
-- holds. One that is ended is deleted; one past its time, when the next begins.
CREATE TABLE session (
    num        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    hash       BLOB    NOT NULL UNIQUE,
    account    INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    browser    TEXT    NOT NULL, -- what it says of itself
    address    TEXT    NOT NULL, -- from where it signed in
    created_ms INTEGER NOT NULL,
    used_ms    INTEGER NOT NULL, -- a few minutes behind
    expires_ms INTEGER NOT NULL  -- however much it is used
) STRICT;
CREATE INDEX session_account ON session (account);

-- Links that sign a browser in, once, by the SHA-256 of what is in them. One past
-- its time is deleted when the next is made.
CREATE TABLE sign_in (
    hash       BLOB    NOT NULL PRIMARY KEY,
    account    INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_account ON sign_in (account);
