import type { Database } from 'better-sqlite3'

const PAGES_A_STEP = 32
/**
 * Up to this number of free pages, or the share SHARE of the file, remain for the next writes: giving them back would move other
 * pages for nothing.
 */
const FREE_PAGES = 1_024
const SHARE = 10
const SHARE_AT_END = 25
/** Some 50 ms. */
const MAX_PAGES_AT_END = 2_048

export type SpaceReclaim = ReturnType<typeof openSpaceReclaim>

/** Gives back to the disk what the database no longer uses, in steps of some 10 ms. */
export function openSpaceReclaim(database: Database) {
  const merge = prepareMerge(database)
  const passages = database.prepare<[], number>('SELECT count(*) FROM passage').pluck()
  const changes = database.prepare<[], number>('SELECT total_changes()').pluck()
  const count = (pragma: string) => Number(database.pragma(pragma, { simple: true }))
  return {
    /** Returns whether the database has enough free space to begin. */
    isNeeded: () => {
      const free = count('freelist_count')
      return free > FREE_PAGES && free * SHARE > count('page_count')
    },
    /** Returns whether the index holds the words of enough removed passages to merge it. */
    isIndexStale: (removedPassages: number) => removedPassages * SHARE > (passages.get() ?? 0),
    /**
     * Takes words of removed passages out of the index; false when it has none left. A negative number lets SQLite merge segments of
     * every level; fewer than two changes say that there was nothing to do.
     */
    mergeIndex: (isFirst: boolean) => {
      const before = changes.get() ?? 0
      merge.run(isFirst ? -PAGES_A_STEP : PAGES_A_STEP)
      return (changes.get() ?? 0) - before >= 2
    },
    /** Cuts free pages off the file; false when none is left. */
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
 * Merges the index of a database that is about to be closed, where the largest of its segments is not nearly all, which saves an eighth, then
 * cuts free pages off where they are a share of it that counts. What takes more than a moment is left to the next writes.
 */
export function shrinkAtEnd(database: Database): void {
  const sizes = database.prepare<[], number>('SELECT count(*) FROM passage_words_idx GROUP BY segid').pluck().all()
  const all = sizes.reduce((sum, size) => sum + size, 0)
  if ((all - Math.max(0, ...sizes)) * SHARE > all) prepareMerge(database).run(-MAX_PAGES_AT_END)
  const count = (pragma: string) => Number(database.pragma(pragma, { simple: true }))
  const free = count('freelist_count')
  if (free * SHARE_AT_END > count('page_count'))
    database.pragma(`incremental_vacuum(${Math.min(free, MAX_PAGES_AT_END)})`)
}
