-- Installed plugins. What they are made of lies in files beside the database,
-- in a folder that digest names; what they may do and were told stands here.

CREATE TABLE plugin (
    num          INTEGER PRIMARY KEY,
    name         TEXT    NOT NULL UNIQUE,
    version      TEXT    NOT NULL, -- as its manifest says
    digest       TEXT    NOT NULL, -- of the files, hexadecimal
    manifest     TEXT    NOT NULL CHECK (json_valid(manifest)),
    signer       TEXT,             -- the key by which they are signed; NULL: they are not
    granted      TEXT    NOT NULL CHECK (json_valid(granted)),
    installed_ms INTEGER NOT NULL,
    changed_ms   INTEGER NOT NULL, -- when it was installed, upgraded, or given or refused something
    upgrades     INTEGER NOT NULL DEFAULT 0,
    broken_ms    INTEGER,          -- since when it is not called, having failed in a row
    retry_ms     INTEGER,          -- from then on one call is tried
    broken_error TEXT,             -- how it failed last
    CONSTRAINT broken CHECK ((broken_ms IS NULL) = (retry_ms IS NULL))
) STRICT;

-- The tools of all plugins: a model calls them by name, so a name is one's only.
CREATE TABLE plugin_tool (
    name   TEXT    NOT NULL PRIMARY KEY,
    plugin INTEGER NOT NULL REFERENCES plugin ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX plugin_tool_plugin ON plugin_tool (plugin);

CREATE TABLE plugin_setting (
    plugin INTEGER NOT NULL REFERENCES plugin ON DELETE CASCADE,
    name   TEXT    NOT NULL,
    value  TEXT, -- of a setting that is no secret
    sealed BLOB, -- a secret, encrypted with the key that lies beside the database
    PRIMARY KEY (plugin, name),
    CONSTRAINT kept CHECK ((value IS NULL) <> (sealed IS NULL))
) STRICT, WITHOUT ROWID;

-- What a plugin keeps for an account, and how many bytes that is.
CREATE TABLE plugin_space (
    plugin  INTEGER NOT NULL REFERENCES plugin  ON DELETE CASCADE,
    account INTEGER NOT NULL REFERENCES account ON DELETE CASCADE,
    bytes   INTEGER NOT NULL,
    PRIMARY KEY (plugin, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX plugin_space_account ON plugin_space (account);

CREATE TABLE plugin_value (
    plugin  INTEGER NOT NULL,
    account INTEGER NOT NULL,
    key     TEXT    NOT NULL,
    value   BLOB    NOT NULL,
    PRIMARY KEY (plugin, account, key),
    FOREIGN KEY (plugin, account) REFERENCES plugin_space ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Grows with every change that whoever runs plugins has to know of.
CREATE TABLE plugin_revision (
    one      INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    revision INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO plugin_revision VALUES (1, 0);
