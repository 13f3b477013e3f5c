-- A box in a fleet: what its hub does not know yet, and what the hub manages on it.

-- There is a row while the box is in a fleet.
CREATE TABLE fleet (
    one             INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    box             TEXT    NOT NULL, -- the name of this box
    hub             TEXT    NOT NULL, -- the name of the hub
    joined_ms       INTEGER NOT NULL,
    chats           INTEGER NOT NULL, -- 1: chats and webhooks are sent
    recordings      INTEGER NOT NULL, -- 1: recordings of chats are sent
    running         INTEGER NOT NULL DEFAULT 0, -- the revision that was applied last
    last            INTEGER NOT NULL DEFAULT 0, -- number of the newest message of this box in the hub's stream
    message         TEXT,             -- id of the message that is being sent; NULL: none
    part            TEXT,             -- what of the chats and notes it contains, JSON
    dropped_health  INTEGER NOT NULL DEFAULT 0, -- notes that were dropped and not told yet
    dropped_webhook INTEGER NOT NULL DEFAULT 0,
    dropped_act     INTEGER NOT NULL DEFAULT 0,
    dropped_chats   INTEGER NOT NULL DEFAULT 0,
    dropped         INTEGER NOT NULL DEFAULT 0, -- all since the box joined
    CONSTRAINT message CHECK ((message IS NULL) = (part IS NULL))
) STRICT;

-- How much of a chat the hub knows. Chats that began before the box joined have no row.
CREATE TABLE fleet_chat (
    chat     INTEGER NOT NULL PRIMARY KEY REFERENCES chat ON DELETE CASCADE,
    sent     INTEGER NOT NULL DEFAULT 0, -- the events from 1 to this one are in messages
    revision INTEGER NOT NULL DEFAULT 1, -- grows with each change of the chat
    waiting  INTEGER NOT NULL DEFAULT 1, -- 1: something of the chat is in no message
    sound    INTEGER NOT NULL DEFAULT 0  -- 1: its recording is to be sent
) STRICT;
CREATE INDEX fleet_chat_waiting ON fleet_chat (chat) WHERE waiting = 1;
CREATE INDEX fleet_chat_sound   ON fleet_chat (chat) WHERE sound = 1;

-- Events in messages that were amended since.
CREATE TABLE fleet_amended (
    chat INTEGER NOT NULL REFERENCES fleet_chat ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    PRIMARY KEY (chat, seq)
) STRICT, WITHOUT ROWID;

-- What else happened, until it is sent.
CREATE TABLE fleet_note (
    num   INTEGER PRIMARY KEY,
    kind  TEXT    NOT NULL CHECK (kind IN ('deleted', 'act', 'webhook', 'health')),
    at_ms INTEGER NOT NULL,
    body  TEXT    NOT NULL CHECK (json_valid(body))
) STRICT;
CREATE INDEX fleet_note_kind ON fleet_note (kind, num);

-- The settings of the box that its hub has set.
CREATE TABLE fleet_setting (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- 1: the hub manages it, and it cannot be changed on the box.
ALTER TABLE resource ADD COLUMN managed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE voice    ADD COLUMN managed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE key      ADD COLUMN managed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE plugin   ADD COLUMN managed INTEGER NOT NULL DEFAULT 0;
ALTER TABLE lexicon  ADD COLUMN managed INTEGER NOT NULL DEFAULT 0;
