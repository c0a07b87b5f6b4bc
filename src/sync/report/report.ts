import { INBOX_PATH } from '../../contract/routes.ts'
import type { Clock } from '../../foundation/clock.ts'
import { forEachConcurrently } from '../../foundation/concurrency/for-each-concurrently.ts'
import { runBoth } from '../../foundation/concurrency/run-both.ts'
import { isNotFound, TemporaryError } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import { scanRulesOf } from '../../local/ignore/ignore-scope.ts'
import type { FileSystem } from '../../local/read/file-system.ts'
import { findSilent, openAnsweringRoot } from '../../local/read/open-and-recheck-root.ts'
import type { ServiceClient } from '../../remote/service-client.ts'
import { ownDirectoriesBelow } from '../../rules/broad-and-overlapping-roots.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { ListedEntry } from '../../store/tables/report-queries.ts'
import type { Connection, MirrorSettings, Service } from '../engine.ts'
import { itemFailure } from '../item-failure.ts'
import { type Listing, listRemote } from '../library/list-library.ts'
import { assertSameService } from '../pin/pinned-service.ts'
import { collectDifferences, type Differences, type StartWalk } from '../scan/scan-batch.ts'
import type { PlainFiles, ReportRow } from './report-entry.ts'
import { type AskedResources, listDifferingRows, listRows } from './report-rows.ts'
import { markFaults, type Verification, verifyContents } from './verify-contents.ts'

/** A write takes as long as some 50 entries, and each page has at most 500. */
const ENTRIES_A_WRITE = 1_000

export interface MirrorReport {
  readonly name: string
  readonly path: string
  readonly library: { readonly id: string; readonly name: string }
  readonly remotePath: string
  readonly service: string
  readonly listing: 'complete' | 'incomplete' | 'not asked'
  /** In a stable order, remote entries last. Each reading compares with what the store knows then. */
  readonly rows: Iterable<ReportRow>
  /** Faster than `rows`: of most files that are in sync without a remark, only their number. */
  readonly differingRows: Iterable<ReportRow | PlainFiles>
  /** Undefined without a verification. */
  readonly verification: Verification | undefined
}

export interface ReportContext {
  readonly store: StoreReader
  readonly service: Service
  readonly startWalk: StartWalk
  readonly fs: FileSystem
  readonly clock: Clock
  readonly logger: Logger
  readonly signal: AbortSignal
  readonly stateDirectory: string
  readonly listConcurrency: number
  /** Real paths of the directories that hold the program's own data. */
  readonly ownDirectories: readonly string[]
}

export interface ReportOptions {
  /** Report from the store alone, without disk and service. */
  readonly isOffline: boolean
  /** Download and compare every sent content; called after each. */
  readonly onVerified?: ((mirror: MirrorRow, soFar: Verification) => void) | undefined
}

export interface ReportedMirror {
  readonly row: MirrorRow
  readonly settings: MirrorSettings
}

/** Compares disk, store and remote listing, mirror by mirror, and yields one report each (product: "The report"). */
export async function* report(
  context: ReportContext,
  mirrors: readonly ReportedMirror[],
  options: ReportOptions,
): AsyncGenerator<MirrorReport> {
  const listings = new Map<number, Listing>()
  for (const { row, settings } of mirrors) {
    const isFirstOfLibrary = !listings.has(row.library.id)
    const { listing, asked, differences } = options.isOffline
      ? { listing: undefined, asked: NOTHING_ASKED, differences: undefined }
      : await readSides(context, row, settings, listings.get(row.library.id))
    listings.set(row.library.id, listing ?? { incomplete: [] })
    const { onVerified } = options
    const verification = onVerified && (await verifyContents(context, row, (soFar) => onVerified(row, soFar)))
    const faults = verification?.faults ?? []
    const places = isFirstOfLibrary ? [row.remotePath, INBOX_PATH] : [row.remotePath]
    const sides = { row, listing, asked, differences, places, isFirstOfLibrary }
    const rows = { [Symbol.iterator]: () => markFaults(listRows(context.store, sides), faults) }
    yield {
      name: row.name,
      path: row.path,
      library: { id: row.library.remoteId, name: row.library.name },
      remotePath: row.remotePath,
      service: row.library.origin,
      listing: listing === undefined ? 'not asked' : listing.incomplete.length > 0 ? 'incomplete' : 'complete',
      rows,
      // A fault may concern any file.
      differingRows: faults.length > 0 ? rows : { [Symbol.iterator]: () => listDifferingRows(context.store, sides) },
      verification,
    }
  }
}

const NOTHING_ASKED: AskedResources = new Map()

/** Lists the library once while the directory is walked, then asks for what the listing lacks. */
async function readSides(context: ReportContext, row: MirrorRow, settings: MirrorSettings, known: Listing | undefined) {
  const connection = await context.service.connect(context.signal)
  const { client, access } = connection
  assertSameService(row, context.service, access)
  const [listing, differences] = await runBoth(
    context.signal,
    async (signal) => known ?? (await list({ ...context, signal }, row, client)),
    (signal) => scan({ ...context, signal }, row, settings),
  )
  const isComplete = listing.incomplete.length === 0
  return { listing, asked: isComplete ? await ask(context, row, connection, differences) : NOTHING_ASKED, differences }
}

async function ask(
  { store, signal, listConcurrency: concurrency }: ReportContext,
  { id, library }: MirrorRow,
  connection: Connection,
  { files }: Differences,
): Promise<AskedResources> {
  const unlisted = new Set(store.report.listUnlisted(id, library.id, MAX_ASKED))
  // Files that the store knows with another content or not at all may have one that is stored.
  const differing = [...files.values()].flatMap((ofDirectory) => [...ofDirectory.values()])
  for (const { sha256, mime, sizeBytes: size } of differing) {
    const resourceId = store.contents.find({ libraryId: library.id, sha256, mime, size })?.resourceId
    if (resourceId != null && store.report.listLocations(library.id, resourceId).length === 0) unlisted.add(resourceId)
  }
  return await askUnlisted(connection, library.remoteId, [...unlisted], { concurrency, signal })
}

async function list(context: ReportContext, { library }: MirrorRow, client: ServiceClient): Promise<Listing> {
  const { logger, signal, listConcurrency: concurrency } = context
  let entries: ListedEntry[] = []
  const flush = () => {
    context.store.report.addListed(entries)
    entries = []
  }
  const add = (page: readonly ListedEntry[]) => {
    entries.push(...page)
    if (entries.length >= ENTRIES_A_WRITE) flush()
  }
  const target = { client, libraryId: library.id, remoteId: library.remoteId, concurrency, logger, signal, add }
  const listing = await listRemote(target)
  flush()
  return listing
}

async function scan(context: ReportContext, row: MirrorRow, settings: MirrorSettings): Promise<Differences> {
  using root = await openAnsweringRoot(context.fs, row.path, context)
  const own = ownDirectoriesBelow(root.realPath, context.ownDirectories)
  const options = {
    storeDirectory: context.stateDirectory,
    mirrorId: row.id,
    root: root.place,
    silent: await findSilent(context.fs, root.place, context),
    rules: scanRulesOf(settings),
    ownDirectories: own === 'inside' ? [] : own,
    hashEverything: false,
    listIgnored: true,
    settleMs: null,
  }
  const directories = context.store.directories.list(row.id).map(({ path }) => path)
  await using walk = context.startWalk(options, context.signal)
  return await collectDifferences(walk, directories)
}

/** The most requests of one report; resources beyond them are unknown. */
const MAX_ASKED = 10_000

/** After this number of failures the service is not asked for the rest: the client has already retried each. */
const MAX_FAILURES = 8

/**
 * Asks for each resource itself: a deletion while pages are read can shift others past a cursor, so that a complete listing lacks them.
 * Leaves out resources without an answer; throws what concerns the credential.
 */
async function askUnlisted(
  connection: Connection,
  libraryId: string,
  resourceIds: readonly string[],
  { concurrency, signal }: { readonly concurrency: number; readonly signal: AbortSignal },
): Promise<AskedResources> {
  const asked = new Map<string, 'listed' | 'absent'>()
  let failures = 0
  await forEachConcurrently(resourceIds.slice(0, MAX_ASKED), concurrency, async (id) => {
    if (failures >= MAX_FAILURES) return
    try {
      await connection.client.pollResource(libraryId, id, signal)
      asked.set(id, 'listed')
    } catch (error) {
      if (isNotFound(error)) asked.set(id, 'absent')
      // The error says nothing of other requests, or the service does not answer now, as it had for the listing.
      else if (
        error instanceof TemporaryError ||
        (await itemFailure(error, connection, { libraryId, right: 'read' }, signal))
      )
        failures += 1
      else throw error
    }
  })
  return asked
}
