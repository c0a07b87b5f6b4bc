CREATE TABLE setting (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Only the SHA-256 of a token's secret is kept. `selector` is the part of the token that finds its row.
CREATE TABLE token (
  id INTEGER PRIMARY KEY,
  selector TEXT NOT NULL UNIQUE,
  secret_sha256 BLOB NOT NULL,
  name TEXT NOT NULL UNIQUE,
  abilities TEXT NOT NULL,
  interfaces TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL,
  expires_at_ms INTEGER,
  revoked_at_ms INTEGER
) STRICT;

CREATE TABLE library (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL UNIQUE,
  overview TEXT,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE token_library (
  token_id INTEGER NOT NULL REFERENCES token (id) ON DELETE CASCADE,
  library_id INTEGER NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  access TEXT NOT NULL,
  PRIMARY KEY (token_id, library_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX token_library_by_library ON token_library (library_id);

-- The root of each library is the directory with the path '/'; it has no parent and no name.
CREATE TABLE directory (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  library_id INTEGER NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  parent_id INTEGER REFERENCES directory (id) ON DELETE CASCADE,
  path TEXT NOT NULL,
  name TEXT NOT NULL,
  UNIQUE (library_id, path)
) STRICT;
CREATE INDEX directory_by_parent ON directory (parent_id, name);

CREATE TABLE resource (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  library_id INTEGER NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  sha256 BLOB NOT NULL,
  mime_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  title TEXT NOT NULL,
  status TEXT NOT NULL,
  warnings TEXT NOT NULL DEFAULT '[]',
  failure TEXT,
  abstract TEXT,
  created_at_ms INTEGER NOT NULL,
  UNIQUE (sha256, library_id, mime_type)
) STRICT;
CREATE INDEX resource_by_library ON resource (library_id);
CREATE INDEX resource_to_ingest ON resource (id) WHERE status IN ('not_started', 'running');

-- The bytes of files of at most 64 KiB; larger ones are files named by their hash.
CREATE TABLE small_content (
  resource_id INTEGER PRIMARY KEY REFERENCES resource (id) ON DELETE CASCADE,
  bytes BLOB NOT NULL
) STRICT;

-- Where a resource shows in the folder tree; `filename` is its slug with extension, `title` the name it was sent under.
CREATE TABLE location (
  directory_id INTEGER NOT NULL REFERENCES directory (id) ON DELETE CASCADE,
  filename TEXT NOT NULL,
  slug TEXT NOT NULL,
  title TEXT NOT NULL,
  resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
  PRIMARY KEY (directory_id, filename)
) STRICT, WITHOUT ROWID;
CREATE INDEX location_by_resource ON location (resource_id, directory_id, title);

-- Every resource has passage 0, if only for its title; a passage with text is one of the resource's assets.
CREATE TABLE passage (
  id INTEGER PRIMARY KEY,
  resource_id INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
  ordinal INTEGER NOT NULL,
  text TEXT NOT NULL,
  unit TEXT NOT NULL,
  first_unit INTEGER NOT NULL,
  last_unit INTEGER NOT NULL,
  UNIQUE (resource_id, ordinal)
) STRICT;

-- The words only: the text itself is in `passage`, under the same rowid.
CREATE VIRTUAL TABLE passage_words USING fts5 (
  title,
  text,
  content = '',
  contentless_delete = 1,
  tokenize = 'unicode61 remove_diacritics 2'
);
