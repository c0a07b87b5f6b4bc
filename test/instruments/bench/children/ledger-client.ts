/** What both children that ask a ledger share. */
import { createHash, randomUUID } from 'node:crypto'
import type { Ledger, LedgerLibrary, UploadEnd, WantedContent } from '../../../../src/ledger/ledger.ts'
import { postgresLedger } from '../../../../src/ledger/postgres/postgres-ledger.ts'
import type { ClientAddress } from '../bench-ledger.ts'

/** The library of all contents that a row fills the ledger with, and that the children claim. */
export const LIBRARY: LedgerLibrary = { origin: 'https://bench.example', tenantId: 1, remoteId: 'bench' }
export const MIME = 'text/markdown'
const SIZE_BYTES = 4_000

export interface OpenHost {
  readonly ledger: Ledger
  readonly session: bigint
}

/** A new host with its session, by the client of the program. */
export async function openHost(name: string, { port, database, password }: ClientAddress): Promise<OpenHost> {
  const ledger = postgresLedger({
    ...{ host: '127.0.0.1', port, database, user: 'postgres', password: async () => password },
    ...{ tls: false, callTimeoutMs: 60_000 },
  })
  const { session } = await ledger.open({ key: randomUUID(), name, version: '0.0.0' }, null)
  return { ledger, session }
}

/** The same contents for the same `salt`. */
export function someContents(salt: string, count: number): WantedContent[] {
  return Array.from({ length: count }, (_, index) => ({
    sha256: createHash('sha256').update(`${salt} ${index}`).digest(),
    ...{ mime: MIME, sizeBytes: SIZE_BYTES },
    place: { path: `notes/${index % 40}/note-${index}.md`, remoteDirectory: '/Papers/notes' },
  }))
}

/** Their uploads as created. */
export function endsOf(session: bigint, contents: readonly WantedContent[]): UploadEnd[] {
  return contents.map(({ sha256, mime, sizeBytes }) => ({
    ...{ sha256, mime, sizeBytes, session, library: LIBRARY },
    ...{ kind: 'created', resourceId: randomUUID(), outcome: 'pending' },
  }))
}
