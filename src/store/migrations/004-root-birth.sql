-- root_birth_ns: when the mirror's directory was made, nanoseconds since the Unix epoch. The root of every ext4 has the same
-- inode, and device numbers change at a restart: this tells one file system from another at the same mount point. NULL
-- where the file system does not tell it, and until it was seen.
ALTER TABLE mirror ADD COLUMN root_birth_ns INTEGER;
