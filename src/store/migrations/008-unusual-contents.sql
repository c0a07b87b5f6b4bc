-- Contents that end otherwise than almost all do: a status counts their files, and takes the others for searchable.
CREATE INDEX content_unusual ON content (library_id)
  WHERE outcome IN ('partial', 'failed', 'unknown') OR ingestion_note IS NOT NULL;
