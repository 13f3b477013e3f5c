-- What users asked in chats whose config has approved answers: one row a turn.
CREATE TABLE question (
    num     INTEGER PRIMARY KEY,
    chat    INTEGER NOT NULL REFERENCES chat ON DELETE CASCADE,
    account INTEGER NOT NULL, -- of the chat
    config  TEXT    NOT NULL, -- of the chat
    at_ms   INTEGER NOT NULL,
    answer  TEXT,             -- id of the approved answer that was given; NULL: none fitted
    words   TEXT              -- what the user said, if no answer fitted
) STRICT;
CREATE INDEX question_chat  ON question (chat);
CREATE INDEX question_asked ON question (account, config, at_ms, answer);
