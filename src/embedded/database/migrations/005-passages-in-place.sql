-- Where the text of a passage stands in the bytes of its small content, so that plain text is stored once; `text` is empty then.
ALTER TABLE passage ADD COLUMN content_offset INTEGER;
ALTER TABLE passage ADD COLUMN content_length INTEGER;
