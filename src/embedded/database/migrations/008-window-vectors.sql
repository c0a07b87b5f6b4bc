-- The vectors of the windows of a resource's passages, up to the passage `last_ordinal`; each row has those of a few passages.
CREATE TABLE window_vectors (
  id INTEGER PRIMARY KEY,
  resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
  last_ordinal INTEGER NOT NULL,
  dimensions INTEGER NOT NULL,
  window_count INTEGER NOT NULL,
  windows BLOB NOT NULL
) STRICT;
CREATE INDEX window_vectors_by_resource ON window_vectors (resource_id, last_ordinal);

ALTER TABLE resource ADD COLUMN is_embedded INTEGER NOT NULL DEFAULT 0;
CREATE INDEX resource_to_embed ON resource (id)
WHERE is_embedded = 0 AND status IN ('completed', 'completed_with_warnings', 'partial');
