-- When the key that signs an account's webhooks was last replaced: a restored
-- database keeps the newest. Of most accounts it never was.
CREATE TABLE signing_key_replaced (
    account INTEGER PRIMARY KEY REFERENCES account ON DELETE CASCADE,
    at_ms   INTEGER NOT NULL -- Unix milliseconds
) STRICT;
