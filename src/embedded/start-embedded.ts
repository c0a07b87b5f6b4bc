import { randomUUID } from 'node:crypto'
import type { MessagePort } from 'node:worker_threads'
import type { Database } from 'better-sqlite3'
import type { FastifyInstance } from 'fastify'
import { type Clock, systemClock } from '../foundation/clock.ts'
import { TemporaryError } from '../foundation/errors.ts'
import { type Logger, silentLogger } from '../foundation/logger.ts'
import { isDiskFull } from '../foundation/sqlite/open-database.ts'
import { typedProgram } from '../foundation/typed-program.ts'
import { ensureOwnerToken } from './access/manage-tokens.ts'
import { explainDamage, openLibraryDatabase, wasLeftOpen } from './database/open-library-database.ts'
import { checkStoredData, openTables } from './database/open-tables.ts'
import { openSpaceReclaim, shrinkAtEnd } from './database/reclaim-space.ts'
import type { EmbeddingLimits, EmbeddingProgress } from './embedding/embedding-stage.ts'
import { type EmbedderChoice, openSemantics } from './embedding/semantics.ts'
import { EXTRACTION_LIMITS, type ExtractionLimits } from './ingest/extraction-limits.ts'
import { openIngestQueue } from './ingest/ingest-queue.ts'
import { openSearch } from './search/open-search.ts'
import { UploadAnswers } from './server/answer-uploads.ts'
import { buildServer } from './server/build-server.ts'
import { answerOnLoopback, cannotServe } from './server/listening.ts'
import { REQUEST_LIMITS, type RequestLimits } from './server/request-limits.ts'
import { DOCUMENTATION_PATH } from './server/serve-pages.ts'
import { openSigning, type Service } from './service-parts.ts'
import {
  type DataPaths,
  dataPaths,
  ensureInstanceId,
  lockDataDirectory,
  prepareDataDirectory,
} from './storage/data-directory.ts'
import { openFileStore } from './storage/file-store.ts'
import { announceHolder } from './storage/holder-file.ts'
import { openPictureCache } from './storage/picture-cache.ts'
import { openLibraryRemoval } from './storage/remove-libraries.ts'
import { createWriteQueue } from './storage/write-queue.ts'
import { openVideoPictures } from './video/video-pictures.ts'

export interface EmbeddedOptions {
  /** The directory of all data of the service; it is created if it does not exist. */
  readonly dataDir: string
  /** Default 127.0.0.1. */
  readonly host?: string
  /** 0, the default, means any free port. */
  readonly port?: number
  /** The origin of the service behind a reverse proxy, such as `https://library.example.com`; undefined without a proxy. */
  readonly publicUrl?: string | undefined
  readonly clock?: Clock
  readonly logger?: Logger
  /** Default 2 GiB. */
  readonly maxUploadBytes?: number
  /** Overrides of the bounds of extraction. */
  readonly extraction?: Partial<ExtractionLimits>
  /** The embedder of balanced searches; default none. */
  readonly embedder?: EmbedderChoice
  /** Whether documents are embedded while the service is idle (default: true). A process that ends soon sets false. */
  readonly embedsDocuments?: boolean
  /** Overrides of the bounds of embedding. */
  readonly embedding?: Partial<EmbeddingLimits>
  /** Overrides of the bounds of requests. */
  readonly requests?: Partial<RequestLimits>
  /** The command that started this process (default: `shelfd`). Other processes show it in their messages. */
  readonly startedBy?: string
  /** How users call the program: the web page shows commands that begin with it. Default: how this process was started. */
  readonly typedProgram?: string
  /** The port by which the thread that started this service sends its small uploads; undefined in the same thread. */
  readonly uploadPort?: MessagePort | undefined
  /** Called when another process wants to serve the library; the caller must then dispose of this service. Default: never handed over. */
  readonly onHandOver?: () => void
}

/** A running service. Disposing of it stops it and releases its directory. */
export interface EmbeddedLibrary extends AsyncDisposable {
  readonly url: string
  /** The owner's token, with all rights. */
  readonly token: string
  readonly tokenFile: string
  readonly documentationUrl: string
  readonly instanceId: string
  /** The port for small uploads of this thread; undefined if the service runs in this thread, or its thread has ended. */
  readonly uploadPort?: MessagePort | undefined
  /** Embeds documents for at most this time; 0 only counts the documents without vectors. */
  embedFor(forMs: number): Promise<EmbeddingProgress>
  /** Resolves when all resources are ingested and embedded, and all deleted libraries are removed. */
  settled(): Promise<void>
}

const MAX_UPLOAD_BYTES = 2 * 2 ** 30
const MAX_PICTURES_BYTES = 256 * 2 ** 20
const CLOSING_GRACE_MS = 2_000

/**
 * Starts the Knowledge Library Service of one data directory and resumes interrupted ingestion. Throws LockedError if another process
 * serves the directory, TemporaryError if its disk is full, OperatorError if its database is damaged or of a newer version.
 */
export async function startEmbeddedLibrary(options: EmbeddedOptions): Promise<EmbeddedLibrary> {
  try {
    return await startService(options)
  } catch (error) {
    if (!isDiskFull(error)) throw error
    throw new TemporaryError('service-full', `The disk of the library in "${options.dataDir}" is full`, {
      cause: error,
    })
  }
}

async function startService(options: EmbeddedOptions): Promise<EmbeddedLibrary> {
  await using starting = new AsyncDisposableStack()
  const paths = dataPaths(options.dataDir)
  const isLeftOpen = wasLeftOpen(paths.databaseFile)
  starting.use(lockDataDirectory(paths))
  prepareDataDirectory(paths)
  const database = explainDamage(() => openLibraryDatabase(paths.databaseFile, isLeftOpen))
  starting.defer(() => closeDatabase(database))
  const service = explainDamage(() => openService(options, paths, database))
  if (isLeftOpen) explainDamage(() => checkStoredData(database, service.tables))
  const token = ensureOwnerToken(paths, service.tables, service.clock.nowMs())
  starting.defer(() => service.search.stop())
  starting.defer(() => service.removal.stop())
  starting.defer(() => service.semantics.stop())
  starting.defer(() => service.ingestion.stop())
  starting.defer(() => service.videos.stop())
  const host = options.host ?? '127.0.0.1'
  const app = buildServer(service, host, { ...REQUEST_LIMITS, ...options.requests })
  const handOverPath = options.onHandOver ? serveHandOver(app, options.onHandOver) : null
  const uploads = options.uploadPort && new UploadAnswers(options.uploadPort, service)
  starting.defer(() => closeServer(app, uploads, service.clock))
  const url = await listen(app, host, options.port ?? 0)
  // An error of the running server, such as too little memory for a connection, concerns one client, so it is only logged.
  app.server.on('error', ({ message }) => service.logger.warn('The server of the library had an error', { message }))
  const local = starting.use(await answerOnLoopback(app.server, url))
  const { startedBy: command = 'shelfd' } = options
  const { instanceId } = service
  starting.use(announceHolder(paths.holderFile, { command, url: local.url, token, instanceId, handOverPath }))
  service.ingestion.wake()
  service.removal.wake()
  const running = starting.move()
  return {
    url,
    token,
    tokenFile: paths.tokenFile,
    documentationUrl: url + DOCUMENTATION_PATH,
    instanceId,
    embedFor: service.semantics.embedFor,
    settled: async () => {
      await service.ingestion.settled()
      await service.removal.settled()
      await service.semantics.settled()
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  }
}

function openService(options: EmbeddedOptions, paths: DataPaths, database: Database): Service {
  const tables = openTables(database)
  const instanceId = ensureInstanceId(paths, tables.settings)
  const files = openFileStore(paths)
  const pictures = openPictureCache({
    directory: paths.picturesDir,
    temporaryDir: paths.temporaryDir,
    maxBytes: MAX_PICTURES_BYTES,
  })
  const writes = createWriteQueue(database, tables.contentBlocks)
  const logger = options.logger ?? silentLogger
  const clock = options.clock ?? systemClock
  const limits = { ...EXTRACTION_LIMITS, ...options.extraction }
  const ingestion = openIngestQueue({ tables, writes, files, logger, clock, limits })
  const semantics = openSemantics({
    tables,
    writes,
    logger,
    clock,
    ingested: ingestion.settled,
    limits: options.embedding,
    choice: options.embedder ?? { kind: 'none' },
    embedsDocuments: options.embedsDocuments ?? true,
  })
  return {
    ...openSigning(tables.settings),
    instanceId,
    tables,
    files,
    logger,
    writes,
    ingestion: {
      ...ingestion,
      wake: (uploaded) => {
        ingestion.wake(uploaded)
        semantics.wake()
      },
    },
    semantics,
    videos: openVideoPictures(tables, files, pictures),
    search: openSearch(paths.databaseFile, { clock, logger }),
    removal: openLibraryRemoval({ tables, writes, files, pictures, space: openSpaceReclaim(database), logger, clock }),
    clock,
    maxUploadBytes: options.maxUploadBytes ?? MAX_UPLOAD_BYTES,
    publicUrl: options.publicUrl,
    program: options.typedProgram ?? typedProgram(),
  }
}

async function listen(app: FastifyInstance, host: string, port: number): Promise<string> {
  try {
    return await app.listen({ host, port })
  } catch (error) {
    throw cannotServe(host, port, error)
  }
}

/** Closes the server. Requests that have not ended after CLOSING_GRACE_MS lose their connections. */
async function closeServer(app: FastifyInstance, uploads: UploadAnswers | undefined, clock: Clock): Promise<void> {
  const isClosed = new AbortController()
  const graceEnded = clock.sleep(CLOSING_GRACE_MS, isClosed.signal).then(
    () => {
      app.server.closeAllConnections()
      uploads?.closeNow()
    },
    () => {},
  )
  await Promise.all([app.close(), uploads?.close()])
  isClosed.abort()
  await graceEnded
}

function closeDatabase(database: Database): void {
  try {
    shrinkAtEnd(database)
    database.pragma('wal_checkpoint(TRUNCATE)')
  } catch (error) {
    // These steps fail if the disk is full. Nothing is lost, because the write-ahead log holds everything that was committed.
    if (!isDiskFull(error)) throw error
  }
  database.close()
}

/** Adds a secret path, and returns it. A POST there is answered with 202, then `onHandOver` is called. */
function serveHandOver(app: FastifyInstance, onHandOver: () => void): string {
  const path = `/hand-over/${randomUUID()}`
  app.post(path, (_request, reply) => {
    reply.raw.once('close', onHandOver)
    return reply.code(202).send()
  })
  return path
}
