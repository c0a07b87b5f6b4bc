-- place: the library directory in which an upload would land, by what was known of the service when it was sent; a look for it
-- is made there, whatever the configuration says meanwhile. NULL: sent before this column.
ALTER TABLE upload ADD COLUMN place TEXT;
