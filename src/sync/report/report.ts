import { INBOX_PATH } from '../../contract/routes.ts'
import type { Clock } from '../../foundation/clock.ts'
import { forEachConcurrently, runBoth } from '../../foundation/concurrency/run-concurrently.ts'
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

/** How many entries are sorted for one write. One write of 10,000 takes 0.7 of the time of ten of 1,000, as it changes fewer pages. */
const ENTRIES_A_WRITE = 10_000

export interface MirrorReport {
  readonly name: string
  readonly path: string
  readonly library: { readonly id: string; readonly name: string }
  readonly remotePath: string
  readonly service: string
  readonly listing: 'complete' | 'incomplete' | 'not asked'
  /** In a stable order, remote entries last. Each iteration compares with the store as it is then. */
  readonly rows: Iterable<ReportRow>
  /** Faster than `rows`: most files that are in sync without a remark are only counted. */
  readonly differingRows: Iterable<ReportRow | PlainFiles>
  /** Undefined if contents were not verified. */
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
  /** Whether the report uses the store alone, without disk and service. */
  readonly isOffline: boolean
  /** If present, every sent content is downloaded and compared, and this is called after each. */
  readonly onVerified?: ((mirror: MirrorRow, soFar: Verification) => void) | undefined
}

export interface ReportedMirror {
  readonly row: MirrorRow
  readonly settings: MirrorSettings
}

/** Compares disk, store and remote listing, mirror by mirror, and yields one report each. */
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
    const paths = isFirstOfLibrary ? [row.remotePath, INBOX_PATH] : [row.remotePath]
    const sides = { row, listing, asked, differences, paths, isFirstOfLibrary }
    const rows = { [Symbol.iterator]: () => markFaults(listRows(context.store, sides), faults) }
    yield {
      name: row.name,
      path: row.path,
      library: { id: row.library.remoteId, name: row.library.name },
      remotePath: row.remotePath,
      service: row.library.origin,
      listing: listing === undefined ? 'not asked' : listing.incomplete.length > 0 ? 'incomplete' : 'complete',
      rows,
      // Any file may have a fault, so none is only counted.
      differingRows: faults.length > 0 ? rows : { [Symbol.iterator]: () => listDifferingRows(context.store, sides) },
      verification,
    }
  }
}

const NOTHING_ASKED: AskedResources = new Map()

/** Lists the library, unless an earlier mirror did, while the directory is walked; then asks for resources that the listing lacks. */
async function readSides(
  context: ReportContext,
  row: MirrorRow,
  settings: MirrorSettings,
  earlier: Listing | undefined,
) {
  const connection = await context.service.connect(context.signal)
  const { client, access } = connection
  assertSameService(row, context.service, access)
  const [listing, differences] = await runBoth(
    context.signal,
    async (signal) => earlier ?? (await listLibrary({ ...context, signal }, row, client)),
    (signal) => scanDisk({ ...context, signal }, row, settings),
  )
  const isComplete = listing.incomplete.length === 0
  const asked = isComplete ? await askForUnlisted(context, row, connection, differences) : NOTHING_ASKED
  return { listing, asked, differences }
}

async function askForUnlisted(
  { store, signal, listConcurrency: concurrency }: ReportContext,
  { id, library }: MirrorRow,
  connection: Connection,
  { files }: Differences,
): Promise<AskedResources> {
  const unlisted = new Set(store.report.listUnlisted(id, library.id, MAX_ASKED))
  // The content of a new or changed file may be stored already.
  const differing = [...files.values()].flatMap((ofDirectory) => [...ofDirectory.values()])
  for (const { sha256, mime, sizeBytes: size } of differing) {
    const resourceId = store.contents.find({ libraryId: library.id, sha256, mime, size })?.resourceId
    if (resourceId != null && store.report.listLocations(library.id, resourceId).length === 0) unlisted.add(resourceId)
  }
  return await pollEach(connection, library.remoteId, [...unlisted], { concurrency, signal })
}

async function listLibrary(context: ReportContext, { library }: MirrorRow, client: ServiceClient): Promise<Listing> {
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

async function scanDisk(context: ReportContext, row: MirrorRow, settings: MirrorSettings): Promise<Differences> {
  using root = await openAnsweringRoot(context.fs, row.path, context)
  const own = ownDirectoriesBelow(root.realPath, context.ownDirectories)
  const directories = context.store.directories.list(row.id).map(({ path }) => path)
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
    storedDirectoryCount: directories.length,
  }
  await using walk = context.startWalk(options, context.signal)
  return await collectDifferences(walk, directories)
}

/** How many resources of a mirror are asked for at most; whether the library has the others stays unconfirmed. */
const MAX_ASKED = 10_000

/** After this many failures, each of which the client has already retried, no further resource is asked for. */
const MAX_FAILURES = 8

/**
 * Polls each resource, because even a complete listing may lack some: a deletion between two pages can shift others past the cursor.
 * Leaves out resources without an answer; throws errors that concern the credential.
 */
async function pollEach(
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
      // Either the error concerns this resource alone, or the service has just stopped answering.
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
