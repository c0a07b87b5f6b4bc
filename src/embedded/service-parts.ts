import { randomBytes } from 'node:crypto'
import type { Clock } from '../foundation/clock.ts'
import type { Logger } from '../foundation/logger.ts'
import type { Tables } from './database/open-tables.ts'
import type { Settings } from './database/settings-table.ts'
import type { Semantics } from './embedding/semantics.ts'
import { type Cursors, createCursors, createSigner, type Signer } from './http/signing.ts'
import type { IngestQueue } from './ingest/ingest-queue.ts'
import type { Search } from './search/open-search.ts'
import type { FileStore } from './storage/file-store.ts'
import type { LibraryRemoval } from './storage/remove-libraries.ts'
import type { WriteQueue } from './storage/write-queue.ts'
import type { VideoPictures } from './video/video-pictures.ts'

/** The parts of a running service that its endpoints use. */
export interface Service {
  readonly instanceId: string
  readonly tables: Tables
  readonly writes: WriteQueue
  readonly files: FileStore
  readonly ingestion: IngestQueue
  readonly search: Search
  readonly removal: LibraryRemoval
  readonly semantics: Semantics
  readonly videos: VideoPictures
  readonly signer: Signer
  readonly cursors: Cursors
  readonly clock: Clock
  readonly logger: Logger
  readonly maxUploadBytes: number
  /** The origin of this service behind a reverse proxy; undefined without a proxy. */
  readonly publicUrl: string | undefined
  /** The command by which users call the program. */
  readonly program: string
}

/** Opens the signer and the cursors of an instance; the first call creates its secret. */
export function openSigning(settings: Settings): { signer: Signer; cursors: Cursors } {
  const stored = settings.read('signing-secret')
  const secret = stored ?? randomBytes(32).toString('hex')
  if (stored === undefined) settings.write('signing-secret', secret)
  const signer = createSigner(Buffer.from(secret, 'hex'))
  return { signer, cursors: createCursors(signer) }
}
