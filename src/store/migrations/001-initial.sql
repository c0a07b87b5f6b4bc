-- Times are milliseconds since the Unix epoch unless a name ends in _ns.

CREATE TABLE meta (
  key   TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- A library of a service, pinned: origin and tenant must stay what they were at first use.
CREATE TABLE library (
  id         INTEGER PRIMARY KEY,
  origin     TEXT NOT NULL,
  tenant_id  INTEGER NOT NULL,
  remote_id  TEXT NOT NULL,
  name       TEXT NOT NULL,
  pinned_at  INTEGER NOT NULL,
  UNIQUE (origin, tenant_id, remote_id)
) STRICT;

-- One local directory and one library path; the root's identity is pinned as well. scrubbed_at: when every file was
-- hashed last, whatever its fingerprint said.
CREATE TABLE mirror (
  id           INTEGER PRIMARY KEY,
  name         TEXT NOT NULL UNIQUE,
  path         TEXT NOT NULL,
  library_id   INTEGER NOT NULL REFERENCES library (id),
  remote_path  TEXT NOT NULL,
  root_device  INTEGER NOT NULL,
  root_inode   INTEGER NOT NULL,
  pinned_at    INTEGER NOT NULL,
  last_run_id  INTEGER,
  scrubbed_at  INTEGER NOT NULL
) STRICT;

-- Every directory seen; path is relative to the mirror, '' for its root. made_at: it exists remotely.
-- seal: a hash over names and fingerprints of its files, there only while its rows prove every one of them unchanged.
CREATE TABLE directory (
  id         INTEGER PRIMARY KEY,
  mirror_id  INTEGER NOT NULL REFERENCES mirror (id),
  path       TEXT NOT NULL,
  made_at    INTEGER,
  seal       BLOB CHECK (length(seal) = 32),
  UNIQUE (mirror_id, path)
) STRICT;
CREATE INDEX directory_unmade ON directory (mirror_id, path) WHERE made_at IS NULL;

-- One content: distinct bytes under one MIME type within a library. resource_id is never forgotten once known.
-- state: new (not sent) · sending (an intent is committed) · doubt (sent, outcome not known) · stored · refused
CREATE TABLE content (
  id                INTEGER PRIMARY KEY,
  library_id        INTEGER NOT NULL REFERENCES library (id),
  sha256            BLOB NOT NULL CHECK (length(sha256) = 32),
  mime              TEXT NOT NULL,
  size              INTEGER NOT NULL,
  state             TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'sending', 'doubt', 'stored', 'refused')),
  resource_id       TEXT CHECK (resource_id <> ''),
  is_duplicate      INTEGER NOT NULL DEFAULT 0,
  second_location   INTEGER NOT NULL DEFAULT 0,
  doubts            INTEGER NOT NULL DEFAULT 0,
  uploaded_at       INTEGER,
  stored_seq        INTEGER,
  mirror_id         INTEGER REFERENCES mirror (id),
  run_id            INTEGER,
  outcome           TEXT CHECK (outcome IN ('pending', 'searchable', 'partial', 'failed', 'unknown')),
  ingestion_status  TEXT,
  searchable_at     INTEGER,
  problem_code      TEXT,
  problem_message   TEXT,
  problem_count     INTEGER NOT NULL DEFAULT 0,
  retry_at          INTEGER,
  is_set_aside      INTEGER NOT NULL DEFAULT 0,
  CHECK ((state = 'stored') = (resource_id IS NOT NULL)),
  UNIQUE (library_id, sha256, mime)
) STRICT;
CREATE INDEX content_by_resource ON content (library_id, resource_id) WHERE resource_id IS NOT NULL;
CREATE INDEX content_pending ON content (library_id, stored_seq) WHERE outcome = 'pending';
CREATE INDEX content_in_doubt ON content (id) WHERE state IN ('sending', 'doubt');
CREATE INDEX content_troubled ON content (library_id, state) WHERE problem_code IS NOT NULL OR state IN ('sending', 'doubt');

-- Every file present at its last scan. is_received: its content is stored, so nothing remains to be done for it.
-- is_racy: hashed within two seconds of its newest time, so equal times prove nothing yet.
CREATE TABLE file (
  directory_id  INTEGER NOT NULL REFERENCES directory (id),
  name          TEXT NOT NULL,
  size          INTEGER NOT NULL,
  mtime_ns      INTEGER NOT NULL,
  ctime_ns      INTEGER NOT NULL,
  inode         INTEGER NOT NULL,
  is_racy       INTEGER NOT NULL,
  content_id    INTEGER NOT NULL REFERENCES content (id),
  is_received   INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (directory_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX file_by_content ON file (content_id);
CREATE INDEX file_open ON file (directory_id, name) WHERE is_received = 0;

-- Which path a stored content once stood for, when it no longer does.
CREATE TABLE former (
  mirror_id   INTEGER NOT NULL REFERENCES mirror (id),
  path        TEXT NOT NULL,
  content_id  INTEGER NOT NULL REFERENCES content (id),
  reason      TEXT NOT NULL CHECK (reason IN ('changed', 'gone', 'ignored')),
  ended_at    INTEGER NOT NULL,
  PRIMARY KEY (mirror_id, path, content_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX former_by_content ON former (content_id);

-- One attempt to send a content; committed before its first byte leaves. outcome NULL: under way, or cut off.
CREATE TABLE upload (
  id          INTEGER PRIMARY KEY,
  content_id  INTEGER NOT NULL REFERENCES content (id),
  mirror_id   INTEGER NOT NULL REFERENCES mirror (id),
  path        TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  run_id      INTEGER NOT NULL,
  begun_at    INTEGER NOT NULL,
  ended_at    INTEGER,
  outcome     TEXT CHECK (outcome IN ('created', 'duplicate', 'adopted', 'absent', 'refused', 'doubt', 'not-sent')),
  message     TEXT
) STRICT;
CREATE INDEX upload_by_content ON upload (content_id);
CREATE INDEX upload_by_day ON upload (begun_at);

-- A problem of one local path, as its last scan or try found it.
CREATE TABLE problem (
  mirror_id  INTEGER NOT NULL REFERENCES mirror (id),
  path       TEXT NOT NULL,
  code       TEXT NOT NULL,
  message    TEXT NOT NULL,
  first_at   INTEGER NOT NULL,
  count      INTEGER NOT NULL,
  retry_at   INTEGER,
  PRIMARY KEY (mirror_id, path)
) STRICT, WITHOUT ROWID;

-- One pass, over one mirror or several; summary is the JSON that was printed.
CREATE TABLE run (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  started_at   INTEGER NOT NULL,
  finished_at  INTEGER,
  verdict      TEXT,
  summary      TEXT
) STRICT;
