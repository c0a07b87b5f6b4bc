-- Times are milliseconds since the Unix epoch. Texts that hold JSON say so.

-- Single values of the service: its id, its signing secret, the embedder of all stored vectors.
CREATE TABLE setting (
  name   TEXT PRIMARY KEY,
  value  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- `selector` is the part of a token that finds its row; of the rest, its secret, only the SHA-256 is kept.
CREATE TABLE token (
  id             INTEGER PRIMARY KEY,
  selector       TEXT NOT NULL UNIQUE,
  secret_sha256  BLOB NOT NULL,
  name           TEXT NOT NULL UNIQUE,
  -- JSON arrays of strings.
  abilities      TEXT NOT NULL,
  interfaces     TEXT NOT NULL,
  created_at_ms  INTEGER NOT NULL,
  expires_at_ms  INTEGER,
  revoked_at_ms  INTEGER
) STRICT;

CREATE TABLE library (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id      TEXT NOT NULL UNIQUE,
  name           TEXT NOT NULL UNIQUE,
  overview       TEXT,
  created_at_ms  INTEGER NOT NULL,
  updated_at_ms  INTEGER NOT NULL,
  -- 1 from the response to its deletion until its resources are removed, piece by piece; nobody sees it any more.
  is_deleted     INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX library_deleted ON library (id) WHERE is_deleted = 1;

-- The rights of a token on single libraries; `access` is a JSON array of strings.
CREATE TABLE token_library (
  token_id    INTEGER NOT NULL REFERENCES token (id) ON DELETE CASCADE,
  library_id  INTEGER NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  access      TEXT NOT NULL,
  PRIMARY KEY (token_id, library_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX token_library_by_library ON token_library (library_id);

-- The root of each library is the directory with the path '/'; it has no parent and no name.
CREATE TABLE directory (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  library_id  INTEGER NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  parent_id   INTEGER REFERENCES directory (id) ON DELETE CASCADE,
  path        TEXT NOT NULL,
  name        TEXT NOT NULL,
  UNIQUE (library_id, path)
) STRICT;
CREATE INDEX directory_by_parent ON directory (parent_id, name);

-- One content of one MIME type in a library; each upload checks in its transaction that the library does not have it yet.
-- A migration that sets `status` to 'running' has the file read again.
CREATE TABLE resource (
  id             INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id      BLOB NOT NULL,
  library_id     INTEGER NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  sha256         BLOB NOT NULL,
  -- Null for 'text/plain', to save space.
  mime_type      TEXT,
  -- The encoding that the sender of a text named; its MIME type has no parameters.
  charset        TEXT,
  size_bytes     INTEGER NOT NULL,
  title          TEXT NOT NULL,
  -- Null for what most have, to save space: 'completed'.
  status         TEXT,
  created_at_ms  INTEGER NOT NULL,
  is_embedded    INTEGER NOT NULL DEFAULT 0,
  -- Null for what most have, to save space: 'text/plain', no warnings (a JSON array of strings), no properties (a JSON object
  -- such as {"pages": 3}).
  text_type      TEXT,
  warnings       TEXT,
  properties     TEXT,
  failure        TEXT,
  -- The MIME type of the video asset of a resource with moving pictures.
  video_type     TEXT,
  -- Of a content that shares a block with others: the block, and where the content begins in it.
  block_id       INTEGER,
  block_start    INTEGER
) STRICT;
-- Few bytes of an identifier or a hash are enough to find a resource; an identifier begins with six of its time.
CREATE INDEX resource_by_public_id ON resource (substr(public_id, 1, 8));
CREATE INDEX resource_by_content ON resource (substr(sha256, 1, 4));
CREATE INDEX resource_by_library ON resource (library_id);
CREATE INDEX resource_to_ingest ON resource (id) WHERE status IN ('not_started', 'running');
CREATE INDEX resource_to_embed ON resource (id)
WHERE is_embedded = 0 AND (status IS NULL OR status IN ('completed_with_warnings', 'partial'));

-- Contents of more than 8 and at most 64 KiB, as zstd where that is shorter. Larger ones are files named by their hash.
CREATE TABLE small_content (
  resource_id  INTEGER PRIMARY KEY REFERENCES resource (id) ON DELETE CASCADE,
  bytes        BLOB NOT NULL
) STRICT;

-- Contents of at most 8 KiB, one after the other, as zstd where that is shorter than their `size_bytes`; none is taken out
-- before its library is deleted. An id is never given again, since readers keep what they unpacked.
CREATE TABLE content_block (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  library_id  INTEGER NOT NULL REFERENCES library (id) ON DELETE CASCADE,
  size_bytes  INTEGER NOT NULL,
  bytes       BLOB NOT NULL
) STRICT;
CREATE INDEX content_block_by_library ON content_block (library_id);

-- Where a resource is in the directory tree: `filename` is its slug with extension, `title` the name it was sent under,
-- empty where it is the filename.
CREATE TABLE location (
  directory_id  INTEGER NOT NULL REFERENCES directory (id) ON DELETE CASCADE,
  filename      TEXT NOT NULL,
  title         TEXT NOT NULL,
  resource_id   INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
  PRIMARY KEY (directory_id, filename)
) STRICT, WITHOUT ROWID;
CREATE INDEX location_by_resource ON location (resource_id);
-- Later versions of a document have the same title beside another filename.
CREATE INDEX location_by_title ON location (directory_id, title, resource_id) WHERE title <> '';

-- Every resource has passage 0, if only for its title; a passage with text is one of the resource's assets.
CREATE TABLE passage (
  id              INTEGER PRIMARY KEY,
  resource_id     INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
  ordinal         INTEGER NOT NULL,
  -- What the text was taken from, such as pages 3 to 4; null for lines, to save space.
  unit            TEXT,
  first_unit      INTEGER NOT NULL,
  last_unit       INTEGER NOT NULL,
  -- More about that as a JSON object: the sheet of its rows, its part of a page.
  detail          TEXT,
  -- Where the bytes of the content are the text itself, so that plain text is stored once; null where `passage_text` has it.
  content_offset  INTEGER,
  content_length  INTEGER,
  UNIQUE (resource_id, ordinal)
) STRICT;

-- The texts that are not found in the content of their resource, as zstd where that is shorter than their `size_bytes`.
-- They are apart from `passage`, so that a search finds the resources of many passages on few pages.
CREATE TABLE passage_text (
  passage_id  INTEGER PRIMARY KEY REFERENCES passage (id) ON DELETE CASCADE,
  size_bytes  INTEGER NOT NULL,
  bytes       BLOB NOT NULL
) STRICT;

-- The words of each passage as the search prepares them (folded, with their other forms), separated by blanks, under the id of
-- the passage. A word costs two bytes less in the first column, and one less among its first 126 words, where each stands once: so `body`
-- begins with the words of name and headings once more, each with a sign, so that a search for common words finds the few passages that have
-- them there, then come the forms, then the word of the library, which no phrase reaches across, then the text.
CREATE VIRTUAL TABLE passage_words USING fts5 (
  body,
  heading,
  name,
  content = '',
  contentless_delete = 1,
  tokenize = "ascii tokenchars '~.'"
);

-- By default, a transaction that deletes from a tenth of a part of an index merges all of that part at once, and others wait.
-- The removal of a library merges the index in small steps instead.
INSERT INTO passage_words (passage_words, rank) VALUES ('deletemerge', 0);

-- The vectors of the chunks of a resource's passages, up to the passage `last_ordinal`; each row has those of a few passages.
CREATE TABLE chunk_vectors (
  id            INTEGER PRIMARY KEY,
  resource_id   INTEGER NOT NULL REFERENCES resource (id) ON DELETE CASCADE,
  last_ordinal  INTEGER NOT NULL,
  dimensions    INTEGER NOT NULL,
  chunk_count   INTEGER NOT NULL,
  chunks        BLOB NOT NULL
) STRICT;
CREATE INDEX chunk_vectors_by_resource ON chunk_vectors (resource_id, last_ordinal);
