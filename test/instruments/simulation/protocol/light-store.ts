/** What the fleet keeps in the store of its host, in memory: a thousand hosts have one each. */

import type { UploadState } from '../../../../src/store/tables/contents.ts'
import type { Settlement } from '../../../../src/store/tables/settlements.ts'
import type { FleetStore } from '../../../../src/sync/fleet/settlement-outbox.ts'
import { LIBRARY } from './protocol-scenario.ts'

export interface LightContent {
  readonly sha256: Buffer
  state: UploadState['state']
  resourceId: string | null
  settledBatch: bigint | null
}

interface Row {
  readonly id: number
  readonly session: bigint
  readonly contentId: number
  readonly kind: string
}

const CONTENTS_A_STEP = 10_000
const STORING: readonly string[] = ['created', 'duplicate', 'adopted']

export class LightStore implements FleetStore {
  /** By number of the content. */
  readonly rows: ReadonlyMap<number, LightContent>
  readonly keyValues: FleetStore['keyValues']
  readonly settlements: FleetStore['settlements']
  readonly contents: FleetStore['contents']
  readonly foreign = { requireSearches: () => undefined }

  constructor(contents: ReadonlyMap<number, Buffer>) {
    this.rows = new Map(
      [...contents].map(([id, sha256]) => [id, { sha256, state: 'new', resourceId: null, settledBatch: null }]),
    )
    const values = new Map<string, string>()
    this.keyValues = {
      get: (key) => values.get(key),
      set: (key, value) => void values.set(key, value),
      remove: (key) => void values.delete(key),
    }
    this.settlements = settlementsOf(this.rows)
    this.contents = {
      getUploadState: (id) => ({
        state: this.get(id).state,
        ...{ doubts: 0, failedTries: 0, retryAt: null, isSetAside: 0, host: null },
      }),
      listSending: () => [...this.rows].filter(([, { state }]) => state === 'sending').map(([id]) => id),
    }
  }

  get(id: number): LightContent {
    const row = this.rows.get(id)
    if (!row) throw new Error(`There is no content ${id}`)
    return row
  }

  write<T>(work: () => T): T {
    return work()
  }

  writeRelaxed<T>(work: () => T): T {
    return work()
  }
}

function settlementsOf(contents: ReadonlyMap<number, LightContent>): FleetStore['settlements'] {
  let unnumbered: Row[] = []
  const batches = new Map<bigint, Row[]>()
  let lastId = 0
  const add = (session: bigint, contentId: number, kind: string) => {
    lastId += 1
    unnumbered.push({ id: lastId, session, contentId, kind })
    return undefined
  }
  const rowsLeft = () => [...batches.values(), unnumbered].flat()
  return {
    add,
    addUnsettled: (session, afterId, settled) => {
      const untilId = afterId + CONTENTS_A_STEP
      const told = new Set(rowsLeft().flatMap(({ contentId, kind }) => (STORING.includes(kind) ? [contentId] : [])))
      for (const [id, { state, settledBatch }] of contents) {
        const isKnown = settledBatch !== null && settledBatch <= settled
        if (id > afterId && id <= untilId && state === 'stored' && !isKnown && !told.has(id))
          add(session, id, 'adopted')
      }
      return untilId < Math.max(0, ...contents.keys()) ? untilId : undefined
    },
    numberBatch: (batch, limit) => {
      const numbered = unnumbered.slice(0, limit)
      unnumbered = unnumbered.slice(limit)
      batches.set(batch, [...(batches.get(batch) ?? []), ...numbered])
      return numbered.length
    },
    forgetNumbers: () => {
      unnumbered = rowsLeft().sort((one, other) => one.id - other.id)
      batches.clear()
    },
    oldestBatch: () => [...batches.keys()].sort((one, other) => Number(one - other))[0],
    list: (batch) => (batches.get(batch) ?? []).map((row) => settlementOf(row, contents.get(row.contentId))),
    acknowledge: (batch) => {
      for (const { contentId } of batches.get(batch) ?? []) {
        const content = contents.get(contentId)
        if (content?.state === 'stored') content.settledBatch = batch
      }
      batches.delete(batch)
    },
    count: () => rowsLeft().length,
    hasReversible: () => rowsLeft().some(({ kind }) => !STORING.includes(kind) && kind !== 'outcome'),
    isEmpty: () => unnumbered.length === 0 && batches.size === 0,
  }
}

function settlementOf(row: Row, content: LightContent | undefined): Settlement {
  return {
    ...row,
    session: String(row.session),
    sha256: content?.sha256 ?? Buffer.alloc(32),
    mime: 'text/plain',
    size: 1,
    resourceId: content?.resourceId ?? null,
    ...{ outcome: null, ingestionNote: null, problemCode: null, problemMessage: null, retryAt: null, isSetAside: 0 },
    ...LIBRARY,
  }
}
