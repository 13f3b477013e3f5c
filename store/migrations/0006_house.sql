-- A key is a client's or an operator's, and may have an end. Until now the keys
-- of the account "default" could read what is for operators.

ALTER TABLE key ADD COLUMN role TEXT NOT NULL DEFAULT 'client' CONSTRAINT role CHECK (role IN ('client', 'operator'));
ALTER TABLE key ADD COLUMN expires_ms INTEGER; -- NULL: it has no end
UPDATE key SET role = 'operator' WHERE account = (SELECT num FROM account WHERE name = 'default');
CREATE INDEX key_expires ON key (expires_ms) WHERE expires_ms IS NOT NULL;

-- What is being deleted belongs to account 0 and group 0, which no key opens and
-- no list shows, until it is gone, batch by batch.

INSERT INTO account (num, id, name, signing_key, created_ms) VALUES (0, '', '', '', 0);
INSERT INTO chat_group (num, id, account, first_start_ms, last_start_ms, last_chat) VALUES (0, '', 0, 0, 0, '');

-- How much an account holds, in bytes: the sums run along indexes alone, so they
-- hold all that the question names, ended_ms too. A chat is entered when it ends,
-- so that its events do not change the index.
-- sound_bytes is NULL from the end of a recorded chat until its files are
-- measured.

ALTER TABLE chat ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE chat ADD COLUMN sound_bytes INTEGER DEFAULT 0;
UPDATE chat SET bytes = (
        SELECT 800 + coalesce(sum(150 + coalesce(octet_length(message_text), 0) + coalesce(octet_length(emotion_features), 0)
                                      + coalesce(octet_length(metadata), 0)), 0)
          FROM chat_event WHERE chat = chat.num);
UPDATE chat SET sound_bytes = NULL WHERE num IN (SELECT chat FROM recording);
CREATE INDEX chat_size       ON chat (account, bytes, sound_bytes, ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX chat_unmeasured ON chat (num) WHERE sound_bytes IS NULL AND ended_ms IS NOT NULL;

ALTER TABLE resource ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE resource SET bytes = (
        SELECT coalesce(sum(400 + octet_length(description) + octet_length(content)), 0)
          FROM resource_version WHERE resource = resource.num);
CREATE INDEX resource_size ON resource (account, bytes);

-- The lists of all chats and of all groups have their lengths in the account;
-- filtered ones are counted along their indexes. The counts of blocks that
-- triggers kept made every event dearer than that.

ALTER TABLE account ADD COLUMN num_chats  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE account ADD COLUMN num_groups INTEGER NOT NULL DEFAULT 0;
UPDATE account SET num_chats  = (SELECT count(*) FROM chat       WHERE account = account.num),
                   num_groups = (SELECT count(*) FROM chat_group WHERE account = account.num)
 WHERE num <> 0;

DROP TRIGGER chat_begins;
DROP TRIGGER chat_turns;
DROP TRIGGER chat_grows;
DROP TRIGGER chat_goes;
DROP TRIGGER group_begins;
DROP TRIGGER group_turns;
DROP TRIGGER group_goes;
DROP TABLE chat_count;
DROP TABLE group_chat_count;
DROP TABLE group_count;
