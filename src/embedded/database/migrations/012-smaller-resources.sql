-- A resource takes two thirds of the room: its identifier is bytes instead of their digits, what most have is not stored, and the
-- index that finds a content has the beginning of its hash. That a library has a content once, each upload checks in its transaction.
CREATE TABLE smaller_resource (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id BLOB NOT NULL UNIQUE,
  library_id INTEGER NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  sha256 BLOB NOT NULL,
  mime_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  is_embedded INTEGER NOT NULL DEFAULT 0,
  -- Null: 'text/plain', no warnings, no properties.
  text_type TEXT,
  warnings TEXT,
  properties TEXT,
  failure TEXT,
  video_type TEXT,
  -- Of a content that shares a block with others: the block, and where it begins in it.
  block_id INTEGER,
  block_start INTEGER
) STRICT;
INSERT INTO smaller_resource (id, public_id, library_id, sha256, mime_type, size_bytes, title, status, created_at_ms, is_embedded,
    text_type, warnings, properties, failure, video_type)
  SELECT id, unhex(public_id), library_id, sha256, mime_type, size_bytes, title, status, created_at_ms, is_embedded,
    nullif(text_type, 'text/plain'), nullif(warnings, '[]'), nullif(properties, '{}'), failure, video_type
  FROM resource;
-- The ids of resources that were deleted are not given again.
DELETE FROM sqlite_sequence WHERE name = 'smaller_resource';
INSERT INTO sqlite_sequence (name, seq) SELECT 'smaller_resource', seq FROM sqlite_sequence WHERE name = 'resource';
DROP TABLE resource;
ALTER TABLE smaller_resource RENAME TO resource;

-- Contents of at most 8 KiB, one after the other, as zstd where that is shorter than their `size_bytes`; none is taken out again
-- before its library is deleted. A number is not given again, since readers keep what they unpacked.
CREATE TABLE content_block (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  library_id INTEGER NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  size_bytes INTEGER NOT NULL,
  bytes BLOB NOT NULL
) STRICT;
CREATE INDEX content_block_by_library ON content_block (library_id);

CREATE INDEX resource_by_content ON resource (substr(sha256, 1, 8));
CREATE INDEX resource_by_library ON resource (library_id);
CREATE INDEX resource_to_ingest ON resource (id) WHERE status IN ('not_started', 'running');
CREATE INDEX resource_to_embed ON resource (id)
WHERE is_embedded = 0 AND status IN ('completed', 'completed_with_warnings', 'partial');

-- Empty where it is the filename.
UPDATE location SET title = '' WHERE title = filename;
