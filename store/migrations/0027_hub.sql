-- What a hub knows of its boxes. A box that was removed keeps its row: its chats refer to it, and it may come again.
CREATE TABLE hub_box (
    num        INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    member_of  TEXT    NOT NULL CHECK (json_valid(member_of)), -- names of groups
    public_key TEXT    NOT NULL,           -- of its credentials; empty: it has none
    added_ms   INTEGER NOT NULL,
    joined_ms  INTEGER NOT NULL,           -- when its credentials were made
    removed_ms INTEGER,
    seen_ms    INTEGER,                    -- when its newest state came
    state      TEXT CHECK (state IS NULL OR json_valid(state)),
    fact_seq   INTEGER NOT NULL DEFAULT 0, -- position in the stream of its newest message that is stored here
    revision   INTEGER NOT NULL DEFAULT 0, -- of what it is to run
    want_hash  BLOB                        -- SHA-256 of what it is to run, without the revision
) STRICT;

-- Up to where the stream of facts is stored, in at most one row.
CREATE TABLE hub_stream (
    id       INTEGER PRIMARY KEY CHECK (id = 1),
    position INTEGER NOT NULL, -- of the last message that is stored, with all before it
    message  TEXT    NOT NULL  -- its id
) STRICT;

-- Which box a chat was on.
CREATE TABLE hub_chat (
    chat INTEGER PRIMARY KEY REFERENCES chat ON DELETE CASCADE,
    box  INTEGER NOT NULL REFERENCES hub_box
) STRICT;
CREATE INDEX hub_chat_box ON hub_chat (box, chat);

-- What else happened on the boxes. kind says what body is.
CREATE TABLE hub_fact (
    num   INTEGER PRIMARY KEY,
    box   INTEGER NOT NULL REFERENCES hub_box,
    kind  TEXT    NOT NULL CONSTRAINT kind CHECK (kind IN ('act', 'webhook', 'dropped', 'rejected')),
    at_ms INTEGER NOT NULL,
    key   TEXT,                -- tells it from others of its box and kind; a restored box may send it again
    body  TEXT    NOT NULL CHECK (json_valid(body)),
    UNIQUE (box, kind, key)
) STRICT;
CREATE INDEX hub_fact_box  ON hub_fact (box, num);
CREATE INDEX hub_fact_kind ON hub_fact (kind, num);

-- States of the boxes: one a minute for a week, then one an hour.
CREATE TABLE hub_health (
    box   INTEGER NOT NULL REFERENCES hub_box,
    at_ms INTEGER NOT NULL,
    body  TEXT    NOT NULL CHECK (json_valid(body)),
    PRIMARY KEY (box, at_ms)
) STRICT, WITHOUT ROWID;
CREATE INDEX hub_health_at ON hub_health (at_ms);

-- What was rolled out to which boxes. The newest row that is neither stopped nor failed counts, of one item and target.
CREATE TABLE hub_rollout (
    id         INTEGER PRIMARY KEY,
    kind       TEXT    NOT NULL, -- of the item
    account    TEXT    NOT NULL, -- its name; empty for plugins and settings
    item       TEXT    NOT NULL, -- id or name, which tells it from others of its kind and account
    name       TEXT    NOT NULL, -- for people
    version    INTEGER NOT NULL, -- -1: it has none
    content    TEXT    NOT NULL, -- for people
    removes    INTEGER NOT NULL, -- 1: it takes the item off the target
    target     TEXT    NOT NULL, -- all, group:NAME or box:NAME
    canary     TEXT    NOT NULL CHECK (json_valid(canary)), -- names of boxes
    unready    TEXT    NOT NULL CHECK (json_valid(unready)), -- those of them that were not ready when it began
    soak_ms    INTEGER NOT NULL,
    state      TEXT    NOT NULL CONSTRAINT state CHECK (state IN ('canary', 'rolling', 'done', 'stopped', 'failed')),
    why        TEXT    NOT NULL,
    created_ms INTEGER NOT NULL,
    changed_ms INTEGER NOT NULL,
    soak_from  INTEGER,          -- since when all canaries run it
    body       BLOB              -- its part of what boxes are to run, gzip of JSON; NULL: it is too old to come back
) STRICT;
CREATE INDEX hub_rollout_item ON hub_rollout (kind, account, item, target, id);

-- From which revision on a box is to run what a roll-out brings.
CREATE TABLE hub_rollout_box (
    rollout  INTEGER NOT NULL REFERENCES hub_rollout ON DELETE CASCADE,
    box      INTEGER NOT NULL REFERENCES hub_box,
    revision INTEGER NOT NULL,
    PRIMARY KEY (rollout, box)
) STRICT, WITHOUT ROWID;
CREATE INDEX hub_rollout_box_box ON hub_rollout_box (box);
