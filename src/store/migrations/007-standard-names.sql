-- The names that the code uses: entries of a library that no receipt accounts for are untracked, the earlier paths of a content
-- are its history, a directory has a digest and is created, and values under a key are values.
ALTER TABLE stranger RENAME TO untracked;
DROP INDEX stranger_by_resource;
CREATE INDEX untracked_by_resource ON untracked (library_id, resource_id);

ALTER TABLE former RENAME TO history;
DROP INDEX former_by_content;
CREATE INDEX history_by_content ON history (content_id);

ALTER TABLE directory RENAME COLUMN seal TO digest;
ALTER TABLE directory RENAME COLUMN made_at TO created_at;
DROP INDEX directory_unmade;
CREATE INDEX directory_pending ON directory (mirror_id, path) WHERE created_at IS NULL;

-- `retry-after:ORIGIN`: how long a service asked to wait.
UPDATE meta SET key = 'value:' || iif(key LIKE 'note:asked-pause:%', 'retry-after:' || substr(key, 18), substr(key, 6))
WHERE key LIKE 'note:%';
