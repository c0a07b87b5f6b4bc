-- The MIME type of the video asset of a resource with moving pictures; null without one.
ALTER TABLE resource ADD COLUMN video_type TEXT;
UPDATE resource SET video_type = iif(mime_type LIKE 'video/%', mime_type, 'application/octet-stream')
WHERE (properties ->> 'duration_seconds' IS NOT NULL AND properties ->> 'width' IS NOT NULL)
  OR (mime_type LIKE 'video/%' AND status = 'completed_with_warnings' AND warnings LIKE '%ffprobe%');
