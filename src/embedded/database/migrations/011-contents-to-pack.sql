-- The larger contents that stand here already are compressed in the background, from the resource with this id down to the first one.
INSERT OR REPLACE INTO setting (name, value) SELECT 'contents-to-pack', max(id) FROM resource HAVING count(*) > 0;
