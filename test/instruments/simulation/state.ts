/** The real store on real SQLite, opened once for many runs: each run is one transaction that is rolled back at its end. */
import { join } from 'node:path'
import type { Statement } from 'better-sqlite3'
import { PlannedDatabase } from '../../../src/foundation/sqlite/planned-database.ts'
import { openStore, type Store } from '../../../src/store/open-store.ts'
import { prepareQueries, type StoreQueries } from '../../../src/store/store-queries.ts'
import { prepareUploads } from '../../../src/store/tables/uploads.ts'
import { prepareDump } from '../../support/dump-store.ts'
import { prepareJudging } from './judging-queries.ts'
import type { Life } from './life.ts'

const PLENTY_BYTES = 2 ** 40

export class SimulatedState implements Disposable {
  readonly queries: StoreQueries
  readonly judging: ReturnType<typeof prepareJudging>
  readonly #database: PlannedDatabase
  readonly #temporary: readonly string[]
  readonly #dump: ReturnType<typeof prepareDump>
  readonly #savepoints: Readonly<Record<'begin' | 'keep' | 'undo' | 'beginDurable' | 'keepDurable', Statement>>
  #isRehearsing = false

  /** `directory` must not hold a store yet. */
  constructor(directory: string) {
    openStore(directory)[Symbol.dispose]()
    this.#database = copyIntoMemory(join(directory, 'store.db'))
    this.#database.pragma('foreign_keys = ON')
    this.queries = prepareQueries(this.#database)
    this.judging = prepareJudging(this.#database)
    this.#dump = prepareDump(this.#database)
    const database = this.#database
    this.#temporary = database
      .prepare<[], { name: string }>("SELECT name FROM temp.sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name)
    this.#savepoints = {
      begin: database.prepare('SAVEPOINT work'),
      keep: database.prepare('RELEASE work'),
      undo: database.prepare('ROLLBACK TO work'),
      beginDurable: database.prepare('SAVEPOINT durable'),
      keepDurable: database.prepare('RELEASE durable'),
    }
  }

  /** Begins a world in which nothing was ever stored. */
  begin(): void {
    this.#database.exec('BEGIN IMMEDIATE; SAVEPOINT durable')
  }

  end(): void {
    this.#database.exec('ROLLBACK')
    this.#isRehearsing = false
  }

  /** What a killed process leaves behind: its open transactions are gone. */
  recover(): void {
    if (this.#isRehearsing) this.#database.exec('ROLLBACK TO rehearsal; RELEASE rehearsal')
    this.#isRehearsing = false
  }

  /** What a power cut leaves of the log: everything up to the last commit that waited for the disk. */
  losePower(): void {
    this.recover()
    this.#database.exec('ROLLBACK TO durable')
  }

  #markDurable(): void {
    this.#savepoints.keepDurable.run()
    this.#savepoints.beginDurable.run()
  }

  /** The store as one life of the program holds it. */
  open(life: Life): Store {
    const commit = <T>(work: () => T, isDurable: boolean): T => {
      life.step('write')
      const result = this.#transact(() => {
        const done = work()
        life.commit()
        return done
      })
      if (isDurable && !this.#isRehearsing) this.#markDurable()
      life.step('written')
      return result
    }
    const write = <T>(work: () => T): T => commit(work, true)
    // What lies in temporary tables ends with the process.
    for (const table of this.#temporary) this.#database.exec(`DELETE FROM temp.${table}`)
    write(() => this.queries.contents.doubtCutOff())
    return {
      directory: '/state',
      ...this.queries,
      // What a process knows of its clocks ends with it.
      uploads: prepareUploads(this.#database),
      isHeld: () => true,
      mayLack: () => this.queries.untracked.isAnyLookDue(),
      findChange: () => undefined,
      freeBytes: () => PLENTY_BYTES,
      write,
      writeRelaxed: (work) => commit(work, false),
      rehearse: async (work) => {
        life.step('rehearse')
        this.#database.exec('SAVEPOINT rehearsal')
        this.#isRehearsing = true
        try {
          return await work()
        } finally {
          if (!life.isDead) this.recover()
        }
      },
      [Symbol.dispose]: () => {},
    }
  }

  #transact<T>(work: () => T): T {
    const { begin, keep, undo } = this.#savepoints
    begin.run()
    try {
      const result = work()
      keep.run()
      return result
    } catch (error) {
      undo.run()
      keep.run()
      throw error
    }
  }

  /** Every row of the tables on files and contents, without what each look at something bad changes: how often and until when. */
  dump(): string {
    const looks = new Set(['problem_count', 'problem_message', 'retry_at', 'first_at'])
    return JSON.stringify(this.#dump(), (key, value) => (looks.has(key) ? null : bigintText(key, value)))
  }

  [Symbol.dispose](): void {
    this.#database.close()
  }
}

function bigintText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}

/** What only a power cut could take from a disk is taken here by savepoints; the disk itself would only cost time. */
function copyIntoMemory(file: string): PlannedDatabase {
  const original = new PlannedDatabase(file)
  // A copy in memory can have no log beside it.
  original.pragma('journal_mode = DELETE')
  const copy = new PlannedDatabase(original.serialize())
  original.close()
  return copy
}
