-- The approved answers of a config's version, as JSON. They may have megabytes, so they
-- are not in its content: the last column of a row is read only where it is asked for.
ALTER TABLE resource_version ADD COLUMN answers TEXT;
