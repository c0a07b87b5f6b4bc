-- The words of each passage as the search prepares them (folded, with their further forms), parted by blanks; the text itself
-- is in `passage`. The row id is `resource_id << 18 | ordinal`, so that a search needs no other table to rank resources.
DROP TABLE passage_words;
CREATE VIRTUAL TABLE passage_words USING fts5 (
  library,
  name,
  heading,
  body,
  forms,
  content = '',
  contentless_delete = 1,
  tokenize = "ascii tokenchars '~.'"
);

-- The passages that stand here already are indexed in the background, in the order of their ids up to this one.
INSERT INTO setting (name, value) SELECT 'index-rebuild-end', max(id) FROM passage HAVING count(*) > 0;
