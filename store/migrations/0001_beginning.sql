-- Times are Unix milliseconds. Rows that others refer to have a small number
-- (num) for that, beside the id that the world sees: it keeps the indexes
-- small, and for chats and groups it is the order in which they began.

CREATE TABLE account (
    num         INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    name        TEXT    NOT NULL UNIQUE,
    signing_key TEXT    NOT NULL, -- of webhooks; readable, for it signs
    created_ms  INTEGER NOT NULL
) STRICT;

CREATE TABLE key (
    num         INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    account     INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    label       TEXT    NOT NULL,
    api_hash    BLOB    NOT NULL UNIQUE, -- SHA-256 of the key
    secret_hash BLOB    NOT NULL,
    hint        TEXT    NOT NULL, -- the key's last characters, to know it by
    created_ms  INTEGER NOT NULL,
    revoked_ms  INTEGER
) STRICT;
CREATE INDEX key_account ON key (account);

CREATE TABLE chat_group (
    num            INTEGER PRIMARY KEY,
    id             TEXT    NOT NULL UNIQUE,
    account        INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    first_start_ms INTEGER NOT NULL,
    last_start_ms  INTEGER NOT NULL,
    last_chat      TEXT    NOT NULL, -- id of the newest chat
    last_config    TEXT,             -- and its config, by which groups are listed
    last_config_version INTEGER,
    num_chats      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX chat_group_account ON chat_group (account);
CREATE INDEX chat_group_config  ON chat_group (account, last_config) WHERE last_config IS NOT NULL;

CREATE TABLE chat (
    num               INTEGER PRIMARY KEY,
    id                TEXT    NOT NULL UNIQUE,
    account           INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    chat_group        INTEGER NOT NULL REFERENCES chat_group ON DELETE CASCADE,
    config            TEXT,
    config_version    INTEGER,
    status            TEXT    NOT NULL CONSTRAINT status CHECK (status IN ('ACTIVE', 'USER_ENDED',
        'USER_TIMEOUT', 'MAX_DURATION_TIMEOUT', 'INACTIVITY_TIMEOUT', 'ERROR')),
    started_ms        INTEGER NOT NULL,
    ended_ms          INTEGER,
    request_id        TEXT    NOT NULL,
    custom_session_id TEXT,
    metadata          TEXT    CONSTRAINT metadata CHECK (metadata IS NULL OR json_valid(metadata)),
    event_count       INTEGER NOT NULL DEFAULT 0, -- and the seq of the newest event
    CONSTRAINT ended CHECK ((status = 'ACTIVE') = (ended_ms IS NULL))
) STRICT;
-- Every list of chats is a range of one of these, in the order of num, which
-- SQLite puts at the end of each.
CREATE INDEX chat_account       ON chat (account);
CREATE INDEX chat_status        ON chat (account, status);
CREATE INDEX chat_config        ON chat (account, config)         WHERE config IS NOT NULL;
CREATE INDEX chat_config_status ON chat (account, config, status) WHERE config IS NOT NULL;
CREATE INDEX chat_of_group      ON chat (chat_group);
CREATE INDEX chat_group_status  ON chat (chat_group, status);
CREATE INDEX chat_open          ON chat (num) WHERE ended_ms IS NULL;

-- The events of a chat are numbered 1 to chat.event_count without gaps, so a
-- page of them is a range of seq.
CREATE TABLE chat_event (
    chat             INTEGER NOT NULL REFERENCES chat ON DELETE CASCADE,
    seq              INTEGER NOT NULL,
    id               TEXT    NOT NULL,
    at_ms            INTEGER NOT NULL,
    type             TEXT    NOT NULL,
    role             TEXT    NOT NULL,
    message_text     TEXT,
    emotion_features TEXT    CONSTRAINT emotion_features CHECK (emotion_features IS NULL OR json_valid(emotion_features)),
    metadata         TEXT    CONSTRAINT metadata CHECK (metadata IS NULL OR json_valid(metadata)),
    related_event_id TEXT,
    PRIMARY KEY (chat, seq)
) STRICT;
