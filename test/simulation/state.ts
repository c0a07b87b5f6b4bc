/** The real store on real SQLite, opened once for many runs: each run is one transaction that is rolled back at its end. */
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { openStore, type Store } from '../../src/store/open-store.ts'
import { prepareQueries, type StoreQueries } from '../../src/store/store-queries.ts'
import { dumpDatabase } from '../support/dump-store.ts'
import type { Life } from './life.ts'

const PLENTY_BYTES = 2 ** 40

export class SimulatedState implements Disposable {
  readonly database: Database.Database
  readonly queries: StoreQueries
  #isRehearsing = false

  /** `directory` must not hold a store yet. */
  constructor(directory: string) {
    openStore(directory)[Symbol.dispose]()
    this.database = new Database(join(directory, 'store.db'))
    this.database.pragma('foreign_keys = ON')
    this.queries = prepareQueries(this.database)
  }

  /** Begins a world in which nothing was ever stored. */
  begin(): void {
    this.database.exec('BEGIN IMMEDIATE; SAVEPOINT durable')
  }

  end(): void {
    this.database.exec('ROLLBACK')
    this.#isRehearsing = false
  }

  /** What a killed process leaves behind: its open transactions are gone. */
  recover(): void {
    if (this.#isRehearsing) this.database.exec('ROLLBACK TO rehearsal; RELEASE rehearsal')
    this.#isRehearsing = false
  }

  /** What a power cut leaves of the log: everything up to the last commit that waited for the disk. */
  losePower(): void {
    this.recover()
    this.database.exec('ROLLBACK TO durable')
  }

  /** The store as one life of the program holds it. */
  open(life: Life): Store {
    const { database } = this
    const commit = <T>(work: () => T, isDurable: boolean): T => {
      life.step('write')
      const result = database.transaction(work)()
      if (isDurable && !this.#isRehearsing) database.exec('RELEASE durable; SAVEPOINT durable')
      life.step('written')
      return result
    }
    const write = <T>(work: () => T): T => commit(work, true)
    write(() => this.queries.contents.doubtCutOff())
    return {
      directory: '/state',
      ...this.queries,
      isHeld: () => true,
      mayLack: () => this.queries.strangers.isAnyLookDue(),
      isInPlace: () => true,
      freeBytes: () => PLENTY_BYTES,
      write,
      writeRelaxed: (work) => commit(work, false),
      rehearse: async (work) => {
        life.step('rehearse')
        database.exec('SAVEPOINT rehearsal')
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

  /** Every row of the tables that tell of files and contents. */
  dump(): string {
    return JSON.stringify(dumpDatabase(this.database), bigintText)
  }

  /** The same without what each further look at something bad changes: how often and until when it is left alone. */
  dumpSettled(): string {
    const looks = new Set(['problem_count', 'problem_message', 'retry_at', 'first_at'])
    return JSON.stringify(dumpDatabase(this.database), (key, value) => (looks.has(key) ? null : bigintText(key, value)))
  }

  [Symbol.dispose](): void {
    this.database.close()
  }
}

function bigintText(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
