import type Database from 'better-sqlite3'
import { onlyRow } from '../sql.ts'
import type { ContentRow } from './contents.ts'
import { VALUE_PREFIX } from './key-values.ts'

/** The key of the host's last session at a ledger. */
export const SESSION_KEY = 'fleet:session'

/** Set while the store is used without its fleet; the ledger learns later what was sent. */
export const ABSENT_KEY = 'fleet:absent'

/** Set when the store was copied or moved: the original may still be in use, with the same session. */
export const COPIED_KEY = 'fleet:copied'

/** An outcome that the ledger has not got yet. */
export interface Settlement
  extends Pick<ContentRow, 'sha256' | 'mime' | 'size' | 'resourceId' | 'outcome' | 'ingestionNote'>,
    Pick<ContentRow, 'problemCode' | 'problemMessage' | 'retryAt' | 'isSetAside'> {
  readonly id: number
  /** A number of 63 bits. */
  readonly session: string
  readonly contentId: number
  readonly kind: string
  readonly origin: string
  readonly tenantId: number
  readonly remoteId: string
}

/** How many contents one step looks at; a host may join a fleet with millions. */
const CONTENTS_A_STEP = 10_000

export function prepareSettlements(database: Database.Database) {
  const add = database.prepare<[string, number, string]>(
    'INSERT INTO settlement (session, content_id, kind) VALUES (?, ?, ?)',
  )
  const addDecided = database.prepare<[number, string]>(
    `INSERT INTO settlement (session, content_id, kind) SELECT value, ?, ? FROM meta WHERE key = '${VALUE_PREFIX}${SESSION_KEY}'`,
  )
  const addSome = database.prepare<[string, number, number, number]>(
    `INSERT INTO settlement (session, content_id, kind)
     SELECT ?, id, 'adopted' FROM content c
     WHERE id > ? AND id <= ? AND state = 'stored' AND (settled_batch IS NULL OR settled_batch > ?) AND NOT EXISTS (
       SELECT 1 FROM settlement s WHERE s.content_id = c.id AND s.kind IN ('created', 'duplicate', 'adopted'))`,
  )
  const lastContent = database.prepare<[], { id: number | null }>('SELECT max(id) AS id FROM content')
  const number = database.prepare<[number, number]>(
    `UPDATE settlement SET batch = ? WHERE id IN (SELECT id FROM settlement WHERE batch IS NULL ORDER BY id LIMIT ?)`,
  )
  const unnumber = database.prepare<[]>('UPDATE settlement SET batch = NULL WHERE batch IS NOT NULL')
  const first = database.prepare<[], { batch: number | null }>('SELECT min(batch) AS batch FROM settlement')
  const list = database.prepare<[number], Settlement>(
    `SELECT s.id, s.session, s.content_id AS contentId, s.kind, c.sha256, c.mime, c.size, c.resource_id AS resourceId, c.outcome,
       c.ingestion_note AS ingestionNote, c.problem_code AS problemCode, c.problem_message AS problemMessage, c.retry_at AS retryAt,
       c.is_set_aside AS isSetAside, l.origin, l.tenant_id AS tenantId, l.remote_id AS remoteId
     FROM settlement s JOIN content c ON c.id = s.content_id JOIN library l ON l.id = c.library_id
     WHERE s.batch = ? ORDER BY s.id`,
  )
  const mark = database.prepare<[number, number]>(
    `UPDATE content SET settled_batch = ?
     WHERE state = 'stored' AND id IN (SELECT content_id FROM settlement WHERE batch = ?)`,
  )
  const remove = database.prepare<[number]>('DELETE FROM settlement WHERE batch = ?')
  const count = database.prepare<[], { n: number }>('SELECT count(*) AS n FROM settlement')
  const anyReversible = database.prepare<[], { n: number }>(
    "SELECT EXISTS (SELECT 1 FROM settlement WHERE kind NOT IN ('created', 'duplicate', 'adopted', 'outcome')) AS n",
  )
  const isAny = database.prepare<[], { n: number }>('SELECT EXISTS (SELECT 1 FROM settlement) AS n')
  return {
    add: (session: bigint, contentId: number, kind: string) => void add.run(String(session), contentId, kind),
    /** Adds nothing if this store was never in a fleet. */
    addDecided: (contentId: number, kind: string) => void addDecided.run(contentId, kind),
    /** Adds the next receipts that no batch up to `settled` brought to the ledger. Returns the last content's id; undefined at the end. */
    addUnsettled: (session: bigint, afterId: number, settled: bigint): number | undefined => {
      const untilId = afterId + CONTENTS_A_STEP
      addSome.run(String(session), afterId, untilId, Number(settled))
      return untilId < (onlyRow(lastContent.get()).id ?? 0) ? untilId : undefined
    },
    /** Numbers at most `limit` outcomes; returns how many there were. */
    numberBatch: (batch: bigint, limit: number): number => number.run(Number(batch), limit).changes,
    /** Call it when the ledger has lost batches: they are numbered again. */
    forgetNumbers: () => void unnumber.run(),
    oldestBatch: (): bigint | undefined => {
      const { batch } = onlyRow(first.get())
      return batch === null ? undefined : BigInt(batch)
    },
    list: (batch: bigint): Settlement[] => list.all(Number(batch)),
    /** Call it when the ledger has settled the batch. */
    acknowledge: (batch: bigint): void => {
      mark.run(Number(batch), Number(batch))
      remove.run(Number(batch))
    },
    count: (): number => onlyRow(count.get()).n,
    /** Returns whether one of the outcomes lets a content be claimed again. */
    hasReversible: (): boolean => onlyRow(anyReversible.get()).n === 1,
    isEmpty: (): boolean => onlyRow(isAny.get()).n === 0,
  }
}
