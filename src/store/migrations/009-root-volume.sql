-- root_volume_id, root_volume_bytes: UUID and size of the root's file system where that records no birth times, as FAT and NTFS do not.
-- NULL where the system does not tell them, and until they were seen.
ALTER TABLE mirror ADD COLUMN root_volume_id TEXT;
ALTER TABLE mirror ADD COLUMN root_volume_bytes INTEGER;

-- Files of a scan that halted because it found others in the place of all files that were known: they are taken for files of the
-- mirror once a scan ends well, and do not count as lost before.
CREATE TABLE unconfirmed (
  mirror_id     INTEGER NOT NULL REFERENCES mirror (id),
  directory_id  INTEGER NOT NULL,
  name          TEXT NOT NULL,
  PRIMARY KEY (mirror_id, directory_id, name)
) STRICT, WITHOUT ROWID;
