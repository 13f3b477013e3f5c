-- The history is read a page at a time, any page at once, out of lists as long
-- as the years. So that the hundredth page costs what the first one does, it is
-- counted how many rows there are in each block of 512 numbers (num >> 9): the
-- page's beginning is found by adding up the counts, and within its block by an
-- index. The triggers below keep the counts; blockBits in Go is the same 9.

CREATE INDEX chat_ended ON chat (ended_ms) WHERE ended_ms IS NOT NULL;

CREATE TABLE chat_count (
    account INTEGER NOT NULL,
    config  TEXT    NOT NULL, -- '' counts the chats of every config and of none
    block   INTEGER NOT NULL,
    status  TEXT    NOT NULL,
    chats   INTEGER NOT NULL,
    PRIMARY KEY (account, config, block, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_chat_count (
    chat_group INTEGER NOT NULL,
    block      INTEGER NOT NULL,
    status     TEXT    NOT NULL,
    chats      INTEGER NOT NULL,
    events     INTEGER NOT NULL,
    PRIMARY KEY (chat_group, block, status)
) STRICT, WITHOUT ROWID;

CREATE TABLE group_count (
    account INTEGER NOT NULL,
    config  TEXT    NOT NULL, -- that of the newest chat; '' counts all groups
    block   INTEGER NOT NULL,
    groups  INTEGER NOT NULL,
    PRIMARY KEY (account, config, block)
) STRICT, WITHOUT ROWID;

INSERT INTO chat_count
    SELECT account, '', num >> 9, status, count(*) FROM chat GROUP BY 1, 3, 4
     UNION ALL
    SELECT account, config, num >> 9, status, count(*) FROM chat WHERE config IS NOT NULL GROUP BY 1, 2, 3, 4;
INSERT INTO group_chat_count
    SELECT chat_group, num >> 9, status, count(*), sum(event_count) FROM chat GROUP BY 1, 2, 3;
INSERT INTO group_count
    SELECT account, '', num >> 9, count(*) FROM chat_group GROUP BY 1, 3
     UNION ALL
    SELECT account, last_config, num >> 9, count(*) FROM chat_group WHERE last_config IS NOT NULL GROUP BY 1, 2, 3;

CREATE TRIGGER chat_begins AFTER INSERT ON chat BEGIN
    INSERT INTO chat_count
        SELECT new.account, config, new.num >> 9, new.status, 1
          FROM (SELECT '' AS config UNION SELECT coalesce(new.config, '')) WHERE true
            ON CONFLICT DO UPDATE SET chats = chats + 1;
    INSERT INTO group_chat_count VALUES (new.chat_group, new.num >> 9, new.status, 1, new.event_count)
            ON CONFLICT DO UPDATE SET chats = chats + 1, events = events + excluded.events;
END;

CREATE TRIGGER chat_turns AFTER UPDATE OF status ON chat WHEN old.status <> new.status BEGIN
    UPDATE chat_count SET chats = chats - 1
     WHERE account = old.account AND config IN ('', coalesce(old.config, '')) AND block = old.num >> 9 AND status = old.status;
    DELETE FROM chat_count
     WHERE account = old.account AND config IN ('', coalesce(old.config, '')) AND block = old.num >> 9 AND status = old.status AND chats = 0;
    INSERT INTO chat_count
        SELECT new.account, config, new.num >> 9, new.status, 1
          FROM (SELECT '' AS config UNION SELECT coalesce(new.config, '')) WHERE true
            ON CONFLICT DO UPDATE SET chats = chats + 1;
    UPDATE group_chat_count SET chats = chats - 1, events = events - old.event_count
     WHERE chat_group = old.chat_group AND block = old.num >> 9 AND status = old.status;
    DELETE FROM group_chat_count
     WHERE chat_group = old.chat_group AND block = old.num >> 9 AND status = old.status AND chats = 0;
    INSERT INTO group_chat_count VALUES (new.chat_group, new.num >> 9, new.status, 1, old.event_count)
            ON CONFLICT DO UPDATE SET chats = chats + 1, events = events + excluded.events;
END;

CREATE TRIGGER chat_grows AFTER UPDATE OF event_count ON chat BEGIN
    UPDATE group_chat_count SET events = events + new.event_count - old.event_count
     WHERE chat_group = new.chat_group AND block = new.num >> 9 AND status = new.status;
END;

CREATE TRIGGER chat_goes AFTER DELETE ON chat BEGIN
    UPDATE chat_count SET chats = chats - 1
     WHERE account = old.account AND config IN ('', coalesce(old.config, '')) AND block = old.num >> 9 AND status = old.status;
    DELETE FROM chat_count
     WHERE account = old.account AND config IN ('', coalesce(old.config, '')) AND block = old.num >> 9 AND status = old.status AND chats = 0;
    UPDATE group_chat_count SET chats = chats - 1, events = events - old.event_count
     WHERE chat_group = old.chat_group AND block = old.num >> 9 AND status = old.status;
    DELETE FROM group_chat_count
     WHERE chat_group = old.chat_group AND block = old.num >> 9 AND status = old.status AND chats = 0;
END;

CREATE TRIGGER group_begins AFTER INSERT ON chat_group BEGIN
    INSERT INTO group_count
        SELECT new.account, config, new.num >> 9, 1
          FROM (SELECT '' AS config UNION SELECT coalesce(new.last_config, '')) WHERE true
            ON CONFLICT DO UPDATE SET groups = groups + 1;
END;

CREATE TRIGGER group_turns AFTER UPDATE OF last_config ON chat_group WHEN old.last_config IS NOT new.last_config BEGIN
    UPDATE group_count SET groups = groups - 1
     WHERE account = old.account AND config = old.last_config AND block = old.num >> 9;
    DELETE FROM group_count
     WHERE account = old.account AND config = old.last_config AND block = old.num >> 9 AND groups = 0;
    INSERT INTO group_count
        SELECT new.account, new.last_config, new.num >> 9, 1 WHERE new.last_config IS NOT NULL
            ON CONFLICT DO UPDATE SET groups = groups + 1;
END;

CREATE TRIGGER group_goes AFTER DELETE ON chat_group BEGIN
    UPDATE group_count SET groups = groups - 1
     WHERE account = old.account AND config IN ('', coalesce(old.last_config, '')) AND block = old.num >> 9;
    DELETE FROM group_count
     WHERE account = old.account AND config IN ('', coalesce(old.last_config, '')) AND block = old.num >> 9 AND groups = 0;
END;

-- The sound of a chat lies in files of the recordings folder that are named
-- after it; its row says that there are some. A chat without a row was not
-- recorded.
CREATE TABLE recording (
    chat        INTEGER PRIMARY KEY REFERENCES chat ON DELETE CASCADE,
    status      TEXT    NOT NULL CHECK (status IN ('IN_PROGRESS', 'COMPLETE', 'ERROR')),
    modified_ms INTEGER NOT NULL
) STRICT;

-- Keys that the box makes for itself, to sign what it hands out.
CREATE TABLE secret (
    name TEXT NOT NULL PRIMARY KEY,
    key  BLOB NOT NULL
) STRICT, WITHOUT ROWID;
