-- How an account's words are pronounced.
CREATE TABLE lexicon (
    account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    key     TEXT    NOT NULL, -- the word as it is compared: small letters, or capitals where only these count
    word    TEXT    NOT NULL, -- as it was written
    said    TEXT    NOT NULL, -- phonemes between slashes, or a respelling
    PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;
