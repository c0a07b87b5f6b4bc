-- is_ad_hoc: made by `sync DIR`, not by a configuration. What was mirrored before this column counts as ad hoc, which is
-- passed over by default only where no configuration names any mirror.
ALTER TABLE mirror ADD COLUMN is_ad_hoc INTEGER NOT NULL DEFAULT 1;

-- ingestion_note: what the service says of a resource beside its status, such as why its text cannot be searched.
-- ingestion_seen_at: when the service last told the status.
ALTER TABLE content ADD COLUMN ingestion_note TEXT;
ALTER TABLE content ADD COLUMN ingestion_seen_at INTEGER;
