-- Vectors of the ways to ask for approved answers, so that each is computed once. They can be computed anew at any time.
CREATE TABLE answer_vector (
    key     INTEGER PRIMARY KEY, -- first 64 bits of a hash of the model and the text
    vector  BLOB    NOT NULL,
    used_ms INTEGER NOT NULL     -- when a config last had the text, to a day
) STRICT;
CREATE INDEX answer_vector_used ON answer_vector (used_ms);
