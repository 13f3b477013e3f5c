-- What plugins log. logged is how many bytes a plugin has logged since it was
-- installed; position is that number when a line ended, so it orders the lines of
-- a plugin and tells which of them are too old to be kept.
ALTER TABLE plugin ADD COLUMN logged INTEGER NOT NULL DEFAULT 0;

CREATE TABLE plugin_log (
    plugin   INTEGER NOT NULL REFERENCES plugin ON DELETE CASCADE,
    position INTEGER NOT NULL,
    at_ms    INTEGER NOT NULL,
    level    TEXT    NOT NULL,
    tool     TEXT    NOT NULL,
    chat     TEXT    NOT NULL, -- its id; empty: none
    text     TEXT    NOT NULL,
    PRIMARY KEY (plugin, position)
) STRICT, WITHOUT ROWID;
