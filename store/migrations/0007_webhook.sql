-- What the receivers of webhooks are still to be told, and were lately.

-- Receivers are an account's: what one does to its own touches nobody else's.
CREATE TABLE webhook_receiver (
    num     INTEGER PRIMARY KEY,
    account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    url     TEXT    NOT NULL,
    UNIQUE (account, url)
) STRICT;

-- A chat that goes on and has webhooks, whether its history is kept or not: it
-- has no reference to one. It goes with the commit that tells its end; what a
-- crash leaves here is ended by the next start. ended_body is the body of its
-- chat_ended, but for what only its end brings.
CREATE TABLE webhook_chat (
    id         TEXT    NOT NULL PRIMARY KEY,
    started_ms INTEGER NOT NULL,
    ended_body TEXT    NOT NULL CHECK (json_valid(ended_body))
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_wish (
    chat     TEXT    NOT NULL REFERENCES webhook_chat ON DELETE CASCADE,
    event    TEXT    NOT NULL,
    receiver INTEGER NOT NULL REFERENCES webhook_receiver ON DELETE CASCADE,
    PRIMARY KEY (chat, event, receiver)
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_wish_receiver ON webhook_wish (receiver);

-- What one receiver is told of one event. Of those of a chat that wait for the
-- same receiver only the first has a due_ms: the others wait for it.
CREATE TABLE webhook (
    num        INTEGER PRIMARY KEY,
    id         TEXT    NOT NULL UNIQUE,
    receiver   INTEGER NOT NULL REFERENCES webhook_receiver ON DELETE CASCADE,
    chat       TEXT    NOT NULL,
    event      TEXT    NOT NULL,
    body       TEXT    NOT NULL, -- the JSON that is signed; empty once it was delivered
    state      TEXT    NOT NULL DEFAULT 'waiting' CONSTRAINT state CHECK (state IN ('waiting', 'delivered', 'dead')),
    created_ms INTEGER NOT NULL,
    until_ms   INTEGER NOT NULL, -- from then on it is not tried again
    due_ms     INTEGER,          -- of the next attempt
    attempts   INTEGER NOT NULL DEFAULT 0,
    last_ms    INTEGER,          -- of the newest attempt
    last_error TEXT,             -- why that failed
    CONSTRAINT waits CHECK (state = 'waiting' OR due_ms IS NULL)
) STRICT;
CREATE INDEX webhook_due   ON webhook (receiver, due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX webhook_lane  ON webhook (chat, receiver, state);
CREATE INDEX webhook_state ON webhook (state, num);
CREATE INDEX webhook_done  ON webhook (state, last_ms) WHERE state <> 'waiting';
CREATE INDEX webhook_of    ON webhook (receiver);
