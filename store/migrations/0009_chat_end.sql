-- Which plugins are still to be told that a chat has ended. It refers to no chat:
-- there may be none, where no history is kept, or none any more. What a crash
-- leaves without an end is ended by the next start.
CREATE TABLE chat_end_call (
    num        INTEGER PRIMARY KEY,
    chat       TEXT    NOT NULL, -- its id
    account    INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    plugin     TEXT    NOT NULL, -- its name
    started_ms INTEGER NOT NULL, -- of the chat
    body       TEXT    NOT NULL CHECK (json_valid(body)), -- what it is told; its end is set when that is known
    due_ms     INTEGER,          -- of the next try; NULL: the chat goes on
    tries      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX chat_end_call_chat    ON chat_end_call (chat);
CREATE INDEX chat_end_call_due     ON chat_end_call (due_ms) WHERE due_ms IS NOT NULL;
CREATE INDEX chat_end_call_account ON chat_end_call (account);
