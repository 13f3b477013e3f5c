-- When a key last opened the box, a few minutes behind; NULL: not since this is kept.
ALTER TABLE key ADD COLUMN used_ms INTEGER;
