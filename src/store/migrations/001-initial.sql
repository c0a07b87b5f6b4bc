-- Times are milliseconds since the Unix epoch unless a name ends in _ns. Conditions on states are spelled out with OR: for a list
-- after IN, SQLite builds a table whenever a row is written.

-- Values under a key: `commits` counts durable transactions, `value:KEY` is what other parts keep, such as
-- `value:retry-after:ORIGIN`, how long a service asked to wait.
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

-- One local directory and one library path.
CREATE TABLE mirror (
  id                 INTEGER PRIMARY KEY,
  name               TEXT NOT NULL UNIQUE,
  path               TEXT NOT NULL,
  library_id         INTEGER NOT NULL REFERENCES library (id),
  remote_path        TEXT NOT NULL,
  -- The root's identity, pinned. The time of its creation distinguishes file systems at one mount point: the root of every ext4 has the
  -- same inode, and device numbers change at a restart. Where the file system records no birth times, as FAT and NTFS, its UUID and
  -- size do so. NULL: not reported, or not known yet.
  root_device        INTEGER NOT NULL,
  root_inode         INTEGER NOT NULL,
  root_birth_ns      INTEGER,
  root_volume_id     TEXT,
  root_volume_bytes  INTEGER,
  pinned_at          INTEGER NOT NULL,
  last_run_id        INTEGER,
  -- When every file was last hashed, whatever its fingerprint said.
  scrubbed_at        INTEGER NOT NULL,
  -- Created by `sync DIR`, not by a configuration: passed over by default where a configuration names mirrors.
  is_ad_hoc          INTEGER NOT NULL,
  -- 1: before this mirror sends anything, the library is listed for entries without a receipt. Set where receipts may be missing: the
  -- state was restored, copied or is new, or the ledger went back.
  must_search        INTEGER NOT NULL DEFAULT 0
) STRICT;

-- Every directory seen; path is relative to the mirror, '' for its root. created_at: set if it exists remotely.
-- digest: a hash of the names and fingerprints of its files; an equal one proves all unchanged. NULL while a row cannot prove that.
CREATE TABLE directory (
  id          INTEGER PRIMARY KEY,
  mirror_id   INTEGER NOT NULL REFERENCES mirror (id),
  path        TEXT NOT NULL,
  created_at  INTEGER,
  digest      BLOB CHECK (length(digest) = 32),
  UNIQUE (mirror_id, path)
) STRICT;
CREATE INDEX directory_pending ON directory (mirror_id, path) WHERE created_at IS NULL;

-- One content: distinct bytes under one MIME type within a library. There is no UNIQUE: code that adds one first searches for it, in the
-- same transaction. resource_id is forgotten only when a person has the resource removed.
-- state: new (not sent) · sending (an intent is committed) · doubt (sent, outcome not known) · stored · refused
CREATE TABLE content (
  id                 INTEGER PRIMARY KEY,
  library_id         INTEGER NOT NULL REFERENCES library (id),
  sha256             BLOB NOT NULL CHECK (length(sha256) = 32),
  mime               TEXT NOT NULL,
  size               INTEGER NOT NULL,
  state              TEXT NOT NULL DEFAULT 'new'
    CHECK (state = 'new' OR state = 'sending' OR state = 'doubt' OR state = 'stored' OR state = 'refused'),
  resource_id        TEXT CHECK (resource_id <> ''),
  is_duplicate       INTEGER NOT NULL DEFAULT 0,
  second_location    INTEGER NOT NULL DEFAULT 0,
  doubts             INTEGER NOT NULL DEFAULT 0,
  uploaded_at        INTEGER,
  stored_seq         INTEGER,
  mirror_id          INTEGER REFERENCES mirror (id),
  run_id             INTEGER,
  outcome            TEXT
    CHECK (outcome = 'pending' OR outcome = 'searchable' OR outcome = 'partial' OR outcome = 'failed' OR outcome = 'unknown'),
  ingestion_status   TEXT,
  -- What the service says of a resource beside its status, such as why its text cannot be searched.
  ingestion_note     TEXT,
  -- When the service last reported the status.
  ingestion_seen_at  INTEGER,
  searchable_at      INTEGER,
  problem_code       TEXT,
  problem_message    TEXT,
  problem_count      INTEGER NOT NULL DEFAULT 0,
  retry_at           INTEGER,
  is_set_aside       INTEGER NOT NULL DEFAULT 0,
  -- The host of a fleet that sent it; NULL: this one.
  host               TEXT,
  -- The batch in which the ledger of a fleet got the receipt; NULL: not yet, or there is no ledger.
  settled_batch      INTEGER,
  CHECK ((state = 'stored') = (resource_id IS NOT NULL))
) STRICT;
-- On 8 bytes, a fifth of the size: hashes come in random order, so a batch changes most pages. Queries compare the other bytes.
CREATE INDEX content_by_hash ON content (substr(sha256, 1, 8));
CREATE INDEX content_by_resource ON content (library_id, resource_id) WHERE resource_id IS NOT NULL;
CREATE INDEX content_pending ON content (library_id, stored_seq) WHERE outcome = 'pending';
CREATE INDEX content_in_doubt ON content (id) WHERE state = 'sending' OR state = 'doubt';
CREATE INDEX content_troubled ON content (library_id, state) WHERE problem_code IS NOT NULL OR state = 'sending' OR state = 'doubt';
-- The few contents not plainly searchable. A status counts their files (and open and pending ones), and takes all others for searchable.
CREATE INDEX content_unusual ON content (library_id)
  WHERE outcome = 'partial' OR outcome = 'failed' OR outcome = 'unknown' OR ingestion_note IS NOT NULL;

-- Every file present at its last scan. is_received: its content is stored, so nothing remains to be done for it.
-- is_racy: hashed within two seconds of its mtime or ctime, so equal times do not prove it unchanged.
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

-- Files of a scan that halted because other files stood in place of all known ones. Once a scan ends well, they belong to the mirror;
-- until then they do not count as lost.
CREATE TABLE unconfirmed (
  mirror_id     INTEGER NOT NULL REFERENCES mirror (id),
  directory_id  INTEGER NOT NULL,
  name          TEXT NOT NULL,
  PRIMARY KEY (mirror_id, directory_id, name)
) STRICT, WITHOUT ROWID;

-- The paths that a stored content once had.
CREATE TABLE history (
  mirror_id   INTEGER NOT NULL REFERENCES mirror (id),
  path        TEXT NOT NULL,
  content_id  INTEGER NOT NULL REFERENCES content (id),
  reason      TEXT NOT NULL CHECK (reason = 'changed' OR reason = 'gone' OR reason = 'ignored'),
  ended_at    INTEGER NOT NULL,
  PRIMARY KEY (mirror_id, path, content_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX history_by_content ON history (content_id);

-- One attempt to send a content; committed before its first byte leaves. outcome NULL: under way, or cut off.
-- remote_directory: the library directory in which it was expected when it was sent; a search looks there, even if the configuration
-- has changed.
CREATE TABLE upload (
  id          INTEGER PRIMARY KEY,
  content_id  INTEGER NOT NULL REFERENCES content (id),
  mirror_id   INTEGER NOT NULL REFERENCES mirror (id),
  path        TEXT NOT NULL,
  remote_directory  TEXT NOT NULL,
  attempt     INTEGER NOT NULL,
  run_id      INTEGER NOT NULL,
  begun_at    INTEGER NOT NULL,
  ended_at    INTEGER,
  outcome     TEXT CHECK (outcome = 'created' OR outcome = 'duplicate' OR outcome = 'adopted' OR outcome = 'absent'
    OR outcome = 'refused' OR outcome = 'doubt' OR outcome = 'not-sent'),
  message     TEXT,
  -- The other host that may have sent it before this host took over the claim; NULL: this host.
  host        TEXT
) STRICT;
CREATE INDEX upload_by_content ON upload (content_id);
CREATE INDEX upload_by_day ON upload (begun_at);

-- Resources whose removal a person began. A row is deleted when the resource is gone, or its content has it again.
CREATE TABLE removal (
  content_id   INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
  resource_id  TEXT NOT NULL,
  PRIMARY KEY (content_id, resource_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER stored_again AFTER UPDATE OF resource_id ON content WHEN NEW.resource_id IS NOT NULL BEGIN
  DELETE FROM removal WHERE content_id = NEW.id AND resource_id = NEW.resource_id;
END;

-- What the ledger of a fleet does not know yet: how uploads ended. Number and rows of a batch are committed before it is sent, so
-- that a repeated call has the same rows.
CREATE TABLE settlement (
  id          INTEGER PRIMARY KEY,
  batch       INTEGER,
  -- A number of 63 bits.
  session     TEXT NOT NULL,
  content_id  INTEGER NOT NULL REFERENCES content (id) ON DELETE CASCADE,
  kind        TEXT NOT NULL
) STRICT;
CREATE INDEX settlement_by_batch ON settlement (batch);
CREATE INDEX settlement_by_content ON settlement (content_id);

-- Entries of a library that no receipt accounts for: one row for each name by which an upload may be recognized. size and sha256:
-- set once the entry was downloaded.
CREATE TABLE foreign_entry (
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
CREATE INDEX foreign_entry_by_resource ON foreign_entry (library_id, resource_id);

-- A problem of one local path, as its last scan or try found it.
CREATE TABLE problem (
  mirror_id  INTEGER NOT NULL REFERENCES mirror (id),
  path       TEXT NOT NULL,
  code       TEXT NOT NULL,
  message    TEXT NOT NULL,
  first_at   INTEGER NOT NULL,
  count      INTEGER NOT NULL,
  retry_at   INTEGER,
  -- Somebody set it aside with `shelfd failed ignore`; a problem of another code at this path is a new one.
  is_set_aside  INTEGER NOT NULL DEFAULT 0,
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
