-- By default, a transaction that deletes from a tenth of a part of the index on merges all of that part at once. Others would wait;
-- the removal of a library merges the index in small steps itself.
INSERT INTO passage_words (passage_words, rank) VALUES ('deletemerge', 0);
