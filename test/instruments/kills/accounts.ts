import { existsSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { messageOf } from '../../../src/foundation/errors.ts'
import { dumpStore } from '../../support/dump-store.ts'
import type { Outcome, Variables } from '../../support/home.ts'
import { runShelfd } from '../../support/run-shelfd.ts'
import type { ChangingTree } from './changing-tree.ts'
import type { LedgerService } from './ledger-service.ts'

interface Around {
  readonly at: string
  /** The `main` of the program. */
  readonly program: string
  readonly stateDir: string
  readonly env: Variables
}

const OPEN_CLASSES = 'local-only,processing,changed,missing-remotely,needs-attention,unknown'

type RunSync = (args: readonly string[]) => Promise<Outcome>

/** Judges what a round shows by the promises, with the true state of disk, service and store. */
export class Accounts {
  readonly complaints: string[] = []
  readonly #service: LedgerService
  readonly #tree: ChangingTree
  readonly #around: Around
  /** Resource ids that were ever logged or stored. */
  readonly #acknowledged = new Set<string>()

  constructor(service: LedgerService, tree: ChangingTree, around: Around) {
    this.#service = service
    this.#tree = tree
    this.#around = around
  }

  complain(complaint: string): void {
    this.complaints.push(complaint)
  }

  /** P2: what the store says while the first bytes of an upload are here. */
  recordUploadBegun(fileName: string): void {
    const paths = this.#ask('SELECT path FROM upload WHERE outcome IS NULL')
    if (!paths.some((path) => path === fileName || path.endsWith(`/${fileName}`)))
      this.complain(`an upload of "${fileName}" began before its intent was kept (P2)`)
  }

  /** P1: what a run logged or stored before it ended is in the store afterwards, and stays there. */
  recordReceipts(log: string): void {
    for (const [, id = ''] of log.matchAll(/"resourceId":"([^"]+)"/g)) this.#acknowledged.add(id)
    const kept = new Set(this.#ask('SELECT resource_id FROM content WHERE resource_id IS NOT NULL'))
    for (const id of this.#acknowledged) if (!kept.has(id)) this.complain(`the receipt of ${id} is lost (P1)`)
    for (const id of kept) this.#acknowledged.add(id)
  }

  /** P16: one of two may be sent away, with exit 11. */
  judgePair(...outcomes: readonly Outcome[]): void {
    const codes = outcomes.map(({ exitCode }) => exitCode)
    const away = outcomes.filter(({ exitCode }) => exitCode === 11)
    if (away.length > 1 || codes.some((code) => code === null)) this.complain(`two instances ended ${codes} (P16)`)
    if (away.some(({ stderr }) => stderr.includes('"resourceId"'))) this.complain('the second one sent something (P16)')
  }

  /** Lets a run end in peace, and judges everything. */
  async close(run: RunSync): Promise<void> {
    await this.#settle(run)
    this.#judgeService()
    await this.#judgeRepeatedRun()
    this.#judgeKnown()
    this.#judgeStore()
  }

  /** What is in doubt for the second time waits in quarantine; it is named, and a person may end that. */
  async #settle(run: RunSync): Promise<void> {
    const before = this.#tree.fingerprint()
    const args = ['sync', 'Papers', '--accept-removals', '--json', '-v', '--log-format', 'json']
    const first = await run(args)
    this.recordReceipts(first.stderr)
    if (first.exitCode !== 0) {
      if (!this.#namesAllMissing(first)) this.complain(`exit ${first.exitCode}, not all named\n${describeRun(first)}`)
      await this.#shelfd(['failed', 'retry', '--all'])
      const second = await run(args)
      this.recordReceipts(second.stderr)
      if (second.exitCode !== 0)
        this.complain(`the last run ended ${second.exitCode}\n${describeRun(first)}\n${describeRun(second)}`)
    }
    if (this.#tree.fingerprint() !== before) this.complain('the directory was changed (P8)')
  }

  #namesAllMissing({ exitCode, stdout }: Outcome): boolean {
    if ((exitCode !== 1 && exitCode !== 5) || stdout === '') return false
    const { mirrors } = JSON.parse(stdout)
    const stored = new Set(this.#service.stored.map(({ sha256 }) => sha256))
    const missing = [...this.#tree.contents()].filter((sha256) => !stored.has(sha256))
    return missing.length <= mirrors[0].problems.length
  }

  /** P3, P7, P9: each content once, nothing else, and each directory; this service lists what it has at once. */
  #judgeService(): void {
    const { stored, directories, strays } = this.#service
    const counts = Map.groupBy(stored, ({ sha256 }) => sha256)
    for (const [sha256, resources] of counts) {
      const names = resources.map(({ fileName }) => fileName).join(', ')
      if (resources.length > 1) this.complain(`${sha256} was sent ${resources.length} times as ${names} (P3)`)
      if (!this.#tree.held.has(sha256)) this.complain(`bytes that never were were sent as ${names} (P10)`)
    }
    for (const sha256 of this.#tree.contents()) if (!counts.has(sha256)) this.complain(`${sha256} was not sent`)
    for (const path of this.#tree.directories()) {
      if (!directories.has(`/Papers/${path}`)) this.complain(`the directory ${path} was not made`)
    }
    for (const stray of strays) this.complain(`asked: ${stray} (P7)`)
  }

  /** P17, and a report without anything open. */
  async #judgeRepeatedRun(): Promise<void> {
    const asked = this.#service.changesAsked
    const doubts = this.#countDoubts()
    let hasChanged = await this.#repeatRun()
    // A doubt about a content that no file needs any more is looked into once its quarantine is over, which may be now.
    if (hasChanged && this.#countDoubts() < doubts) hasChanged = await this.#repeatRun()
    if (hasChanged) this.complain('the repeated run changed the store (P17)')
    if (this.#service.changesAsked !== asked) this.complain('the repeated run asked for changes (P17)')
    const report = await this.#shelfd(['report', '--check', '--fail-on', OPEN_CLASSES])
    if (report.exitCode !== 0) this.complain(`the report ended ${report.exitCode}\n${describeRun(report)}`)
  }

  /** Returns whether the run changed the store. */
  async #repeatRun(): Promise<boolean> {
    const dump = () => JSON.stringify(dumpStore(this.#around.stateDir), withBigInts)
    const before = dump()
    const repeated = await this.#shelfd(['sync', 'Papers'])
    if (repeated.exitCode !== 0) this.complain(`the repeated run ended ${repeated.exitCode}\n${describeRun(repeated)}`)
    return dump() !== before
  }

  #countDoubts(): number {
    return this.#ask("SELECT 1 FROM content WHERE state = 'doubt'").length
  }

  /** A resource is known, or its content is in doubt: in quarantine, while no file needs it any more. */
  #judgeKnown(): void {
    const known = new Set(this.#ask('SELECT resource_id FROM content WHERE resource_id IS NOT NULL'))
    const doubted = new Set(this.#ask("SELECT lower(hex(sha256)) FROM content WHERE state = 'doubt'"))
    const here = this.#tree.contents()
    for (const { id, fileName, sha256 } of this.#service.stored) {
      const isOpen = doubted.has(sha256) && !here.has(sha256)
      if (!known.has(id) && !isOpen) this.complain(`the resource ${id} of ${fileName} is not known (P4)`)
    }
  }

  #judgeStore(): void {
    const faults = [...this.#ask('PRAGMA integrity_check'), ...this.#ask('PRAGMA foreign_key_check')]
    if (faults.join() !== 'ok') this.complain(`the store is damaged: ${faults.join('; ')}`)
    const { stateDir } = this.#around
    const backup = join(stateDir, 'store.db.v1.bak')
    if (existsSync(`${backup}.part`)) this.complain('the beginning of a backup is left (P23)')
    if (existsSync(backup) && ask(backup, 'PRAGMA user_version').join() !== '1')
      this.complain('the backup is cut (P23)')
  }

  #shelfd(args: readonly string[]): Promise<Outcome> {
    const { program: main, at: cwd, env } = this.#around
    return runShelfd(args, { main, cwd, env }).ended
  }

  /** Nothing while the store is only being made: reading it would make files that the next run is to make. */
  #ask(query: string): string[] {
    const { stateDir } = this.#around
    if (this.#acknowledged.size === 0 && !existsSync(join(stateDir, 'generation'))) return []
    try {
      return ask(join(stateDir, 'store.db'), query)
    } catch (error) {
      this.complain(`the store cannot be read: ${messageOf(error)}`)
      return []
    }
  }
}

/** The first column of all rows. */
export function ask(file: string, query: string): string[] {
  const database = new Database(file, { readonly: true })
  try {
    return database.prepare<[], string>(query).pluck().all().map(String)
  } finally {
    database.close()
  }
}

function describeRun({ stdout, stderr }: Outcome): string {
  return `${stdout}\n${stderr}`
}

function withBigInts(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value
}
