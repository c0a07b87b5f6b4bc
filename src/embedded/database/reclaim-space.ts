import type { Database } from 'better-sqlite3'

const PAGES_A_STEP = 32
/** This many free pages remain for the next writes, because cutting pages off moves others. */
const MAX_FREE_PAGES = 1_024
/** Space is freed, or the index merged, if this concerns more than one page, passage or block in ONE_IN. */
const ONE_IN = 10
const ONE_IN_AT_END = 25
/** Takes some 50 ms. */
const MAX_PAGES_AT_END = 2_048

export type SpaceReclaim = ReturnType<typeof openSpaceReclaim>

/** Prepares the steps that free the disk space which the database no longer uses; each takes some 10 ms. */
export function openSpaceReclaim(database: Database) {
  const merge = prepareMerge(database)
  const passages = database.prepare<[], number>('SELECT count(*) FROM passage').pluck()
  const changes = database.prepare<[], number>('SELECT total_changes()').pluck()
  const count = (pragma: string) => Number(database.pragma(pragma, { simple: true }))
  return {
    /** Returns whether the database has enough free space to begin. */
    isNeeded: () => {
      const free = count('freelist_count')
      return free > MAX_FREE_PAGES && free * ONE_IN > count('page_count')
    },
    /** Returns whether the index holds the words of enough removed passages to merge it. */
    isIndexStale: (removedPassages: number) => removedPassages * ONE_IN > (passages.get() ?? 0),
    /**
     * Removes words of removed passages from the index; returns false if there was nothing to do, which SQLite shows by fewer than two
     * changes. A negative number lets it merge segments of every level.
     */
    mergeIndex: (isFirst: boolean) => {
      const before = changes.get() ?? 0
      merge.run(isFirst ? -PAGES_A_STEP : PAGES_A_STEP)
      return (changes.get() ?? 0) - before >= 2
    },
    /** Cuts free pages off the file; returns false if there were none. */
    cutFile: () => {
      const before = count('freelist_count')
      database.pragma(`incremental_vacuum(${PAGES_A_STEP})`)
      return count('freelist_count') < before
    },
  }
}

function prepareMerge(database: Database) {
  return database.prepare<[number]>("INSERT INTO passage_words (passage_words, rank) VALUES ('merge', ?)")
}

/**
 * Shrinks a database before it is closed, in a bounded time. Merges the index if more than a tenth of it is outside its largest segment,
 * which saves an eighth. Then cuts off free pages if more than one page in ONE_IN_AT_END is free.
 */
export function shrinkAtEnd(database: Database): void {
  const sizes = database.prepare<[], number>('SELECT count(*) FROM passage_words_idx GROUP BY segid').pluck().all()
  const all = sizes.reduce((sum, size) => sum + size, 0)
  if ((all - Math.max(0, ...sizes)) * ONE_IN > all) prepareMerge(database).run(-MAX_PAGES_AT_END)
  const count = (pragma: string) => Number(database.pragma(pragma, { simple: true }))
  const free = count('freelist_count')
  if (free * ONE_IN_AT_END > count('page_count'))
    database.pragma(`incremental_vacuum(${Math.min(free, MAX_PAGES_AT_END)})`)
}
