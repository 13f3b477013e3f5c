-- Names and ids of voices that this box does not have, and which voice stands in for
-- each: for all accounts.
CREATE TABLE voice_alias (
    folded TEXT NOT NULL PRIMARY KEY, -- the name in small letters
    name   TEXT NOT NULL,             -- as it was written
    voice  TEXT NOT NULL              -- id of a voice of the library, or the name of one that accounts have saved
) STRICT, WITHOUT ROWID;
