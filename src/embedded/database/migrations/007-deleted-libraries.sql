-- 1 from the answer to its deletion until its resources are removed, piece by piece; nobody sees it any more.
ALTER TABLE library ADD COLUMN is_deleted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX library_deleted ON library (id) WHERE is_deleted = 1;
