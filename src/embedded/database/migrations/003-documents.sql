-- The type of a resource's passages, and facts beside its text as JSON (pages, width, height, duration).
ALTER TABLE resource ADD COLUMN text_type TEXT NOT NULL DEFAULT 'text/plain';
ALTER TABLE resource ADD COLUMN properties TEXT NOT NULL DEFAULT '{}';
UPDATE resource SET text_type = 'text/markdown' WHERE mime_type = 'text/markdown';

-- More about the place of a passage as JSON: the sheet of its rows, or its part of a page.
ALTER TABLE passage ADD COLUMN detail TEXT;

-- What gave no text to an earlier version is read again.
UPDATE resource SET status = 'running', warnings = '[]' WHERE status = 'completed_with_warnings' AND abstract IS NULL;
