-- Configs, prompts and tools lead the same life: a thing of an account with a
-- name, and its versions with what they say.

CREATE TABLE resource (
    num          INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    account      INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    kind         TEXT    NOT NULL CONSTRAINT kind CHECK (kind IN ('config', 'prompt', 'tool')),
    name         TEXT    NOT NULL,
    created_ms   INTEGER NOT NULL,
    renamed_ms   INTEGER NOT NULL,
    next_version INTEGER NOT NULL DEFAULT 0, -- only grows: a number never comes back
    newest       INTEGER                     -- the greatest version there is; NULL when all are deleted
) STRICT;
-- Every list is a range of one of these, in the order of num, which SQLite puts
-- at the end of each.
CREATE INDEX resource_kind ON resource (account, kind)       WHERE newest IS NOT NULL;
CREATE INDEX resource_name ON resource (account, kind, name) WHERE newest IS NOT NULL;

CREATE TABLE resource_version (
    resource    INTEGER NOT NULL REFERENCES resource ON DELETE CASCADE,
    version     INTEGER NOT NULL,
    description TEXT    NOT NULL,
    content     TEXT    NOT NULL CONSTRAINT content CHECK (json_valid(content)),
    created_ms  INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL,
    PRIMARY KEY (resource, version)
) STRICT;
