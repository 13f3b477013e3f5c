-- The audit log: who did what to what, when, from where, and with which outcome. Rows
-- are only added; the oldest are deleted when they pass the retention.
CREATE TABLE act (
    num        INTEGER PRIMARY KEY,
    at_ms      INTEGER NOT NULL,
    actor      TEXT    NOT NULL CONSTRAINT actor CHECK (actor IN ('key', 'session', 'screen', 'user', 'box', 'unknown')),
    actor_id   TEXT    NOT NULL, -- of the key or session; the number of a user
    actor_name TEXT    NOT NULL, -- label of the key, name of the user
    actor_role TEXT    NOT NULL, -- of the key; of a user, the name under which the command ran
    address    TEXT    NOT NULL, -- from where: a network address or a terminal
    what       TEXT    NOT NULL, -- a stable name of the act, such as key.create
    kind       TEXT    NOT NULL, -- of the object
    id         TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    text       TEXT    NOT NULL, -- a sentence
    outcome    TEXT    NOT NULL CONSTRAINT outcome CHECK (outcome IN ('done', 'refused', 'failed')),
    why        TEXT    NOT NULL, -- it was refused or failed
    times      INTEGER NOT NULL, -- how many equal acts the row stands for
    hash       BLOB    NOT NULL  -- SHA-256 of the row before and of this row
) STRICT;
CREATE INDEX act_at ON act (at_ms);

-- The hash of the newest row that retention has deleted, in at most one row.
CREATE TABLE act_deleted (
    hash BLOB NOT NULL
) STRICT;
