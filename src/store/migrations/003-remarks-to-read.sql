-- Resources that ended with warnings before the store kept what the service says of them: each is looked at once more.
CREATE INDEX content_unseen ON content (mirror_id)
  WHERE outcome = 'searchable' AND ingestion_status = 'completed_with_warnings' AND ingestion_seen_at IS NULL;
