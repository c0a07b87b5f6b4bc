-- The words of names and headings once more, under the ids of their passages: a search for common words looks for the passages that
-- have them in their name or heading, and `passage_words` would go through all their passages for it. Few passages have any.
CREATE VIRTUAL TABLE title_words USING fts5 (
  heading,
  name,
  content = '',
  contentless_delete = 1,
  tokenize = "ascii tokenchars '~.'"
);
INSERT INTO title_words (title_words, rank) VALUES ('deletemerge', 0);

CREATE VIRTUAL TABLE temp.indexed_word USING fts5vocab (main, passage_words, instance);
INSERT INTO title_words (rowid, heading, name)
SELECT
  doc,
  coalesce(group_concat(term, ' ' ORDER BY offset) FILTER (WHERE col = 'heading'), ''),
  coalesce(group_concat(term, ' ' ORDER BY offset) FILTER (WHERE col = 'name'), '')
FROM temp.indexed_word
WHERE col IN ('heading', 'name')
GROUP BY doc;
DROP TABLE temp.indexed_word;
