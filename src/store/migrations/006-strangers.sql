-- must_look: the state may lack what this mirror sent (it was restored, copied, or is new beside a library that holds the mirror's
-- directory), so before it sends anything the library is listed for entries that no receipt accounts for.
ALTER TABLE mirror ADD COLUMN must_look INTEGER NOT NULL DEFAULT 0;

-- Such entries: one row for each name by which an upload may be known again. size and sha256 once it was downloaded.
CREATE TABLE stranger (
  library_id   INTEGER NOT NULL REFERENCES library (id),
  mime         TEXT NOT NULL,
  name_key     TEXT NOT NULL,
  resource_id  TEXT NOT NULL,
  title        TEXT NOT NULL,
  filename     TEXT NOT NULL,
  size         INTEGER,
  sha256       BLOB CHECK (length(sha256) = 32),
  PRIMARY KEY (library_id, mime, name_key, resource_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX stranger_by_resource ON stranger (library_id, resource_id);
