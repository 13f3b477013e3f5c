-- Analysis jobs and their sources. Uploads, results and artifacts are files in the
-- folder of the job.

CREATE TABLE batch_job (
    num         INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    account     INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    request     TEXT    NOT NULL CHECK (json_valid(request)),
    state       TEXT    NOT NULL DEFAULT 'QUEUED' CONSTRAINT state CHECK (state IN ('QUEUED', 'IN_PROGRESS', 'COMPLETED',
        'FAILED')),
    created_ms  INTEGER NOT NULL,
    started_ms  INTEGER,          -- of the newest start
    ended_ms    INTEGER,
    attempts    INTEGER NOT NULL DEFAULT 0, -- starts, without those that a stop of the box has ended
    predictions INTEGER NOT NULL DEFAULT 0,
    errors      INTEGER NOT NULL DEFAULT 0,
    message     TEXT,             -- why it failed
    row_bytes   INTEGER NOT NULL, -- what the rows of the job take
    file_bytes  INTEGER NOT NULL, -- what its folder takes
    bytes       INTEGER NOT NULL GENERATED ALWAYS AS (row_bytes + file_bytes) STORED
) STRICT;
CREATE INDEX batch_job_queue   ON batch_job (account, num) WHERE state = 'QUEUED';
CREATE INDEX batch_job_running ON batch_job (account, num) WHERE state = 'IN_PROGRESS';
CREATE INDEX batch_job_bytes   ON batch_job (account, bytes);
CREATE INDEX batch_job_old     ON batch_job (ended_ms) WHERE ended_ms IS NOT NULL;
-- The orders of the list. Its filters are on created_ms and state.
CREATE INDEX batch_job_created ON batch_job (account, created_ms, num, state);
CREATE INDEX batch_job_started ON batch_job (account, started_ms, num, created_ms, state);
CREATE INDEX batch_job_ended   ON batch_job (account, ended_ms, num, created_ms, state);

CREATE TABLE batch_source (
    job          INTEGER NOT NULL REFERENCES batch_job ON DELETE CASCADE,
    n            INTEGER NOT NULL, -- from 0
    kind         TEXT    NOT NULL CONSTRAINT kind CHECK (kind IN ('file', 'url', 'text')),
    name         TEXT    NOT NULL, -- of the file, or the URL; empty for a text, which is in the request
    content_type TEXT    NOT NULL,
    md5          TEXT    NOT NULL,
    predictions  INTEGER,          -- NULL until its result is written
    errors       INTEGER,
    PRIMARY KEY (job, n)
) STRICT, WITHOUT ROWID;
