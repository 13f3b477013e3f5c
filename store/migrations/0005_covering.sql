-- A list of resources is counted, and its pages are found, in these indexes
-- alone: they hold all that the questions name, newest too, since SQLite looks
-- at it again even where the index has none but these rows.

DROP INDEX resource_kind;
DROP INDEX resource_name;
CREATE INDEX resource_kind ON resource (account, kind, num, newest)       WHERE newest IS NOT NULL;
CREATE INDEX resource_name ON resource (account, kind, name, num, newest) WHERE newest IS NOT NULL;
