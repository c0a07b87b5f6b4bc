import { INBOX_PATH } from '../../contract/routes.ts'
import type { Clock } from '../../foundation/clock.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { FileSystem } from '../../local/read/file-system.ts'
import { inspectRoot } from '../../local/read/inspect-root.ts'
import { ownDirectoriesBelow } from '../../rules/mirrors/own-directories.ts'
import type { StoreReader } from '../../store/open-store.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { ListedEntry } from '../../store/tables/report-rows.ts'
import type { MirrorSettings, Service } from '../engine.ts'
import { type Listing, listRemote } from '../list-remote.ts'
import type { ObserveTree } from '../observe/observation.ts'
import { observeDifferences } from '../observe/observe-differences.ts'
import { assertSameService } from '../pin/pinned-service.ts'
import { markFaults } from './mark-faults.ts'
import type { ReportRow } from './report-entry.ts'
import { listRows } from './report-rows.ts'
import { type Verification, verifyContents } from './verify-contents.ts'

/** A transaction takes as long as some 300 entries, and each page has at most 500. */
const ENTRIES_A_WRITE = 10_000

export interface MirrorReport {
  readonly name: string
  readonly path: string
  readonly library: { readonly id: string; readonly name: string }
  readonly remotePath: string
  readonly listing: 'complete' | 'incomplete' | 'not asked'
  /** Rows in a stable order, those of remote entries alone last; each reading compares anew with what the store knows then. */
  readonly rows: Iterable<ReportRow>
  /** What downloading the sent contents showed; undefined when that was not asked for. */
  readonly verification: Verification | undefined
}

/** What the report works with; it only reads, so another process may hold the store. */
export interface ReportContext {
  readonly store: StoreReader
  readonly service: Service
  readonly observeTree: ObserveTree
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
  /** Download and compare every sent content; called as it goes on. */
  readonly onVerified?: ((mirror: MirrorRow, soFar: Verification) => void) | undefined
}

/** A mirror to report on; an ad hoc mirror has default settings. */
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
    const listing = options.isOffline ? undefined : (listings.get(row.library.id) ?? (await list(context, row)))
    listings.set(row.library.id, listing ?? { incomplete: [] })
    const differences = options.isOffline ? undefined : await observe(context, row, settings)
    const { onVerified } = options
    const verification = onVerified && (await verifyContents(context, row, (soFar) => onVerified(row, soFar)))
    const faults = verification?.faults ?? []
    const places = isFirstOfLibrary ? [row.remotePath, INBOX_PATH] : [row.remotePath]
    yield {
      name: row.name,
      path: row.path,
      library: { id: row.library.remoteId, name: row.library.name },
      remotePath: row.remotePath,
      listing: listing === undefined ? 'not asked' : listing.incomplete.length > 0 ? 'incomplete' : 'complete',
      rows: {
        [Symbol.iterator]: () =>
          markFaults(listRows(context.store, { row, listing, differences, places, isFirstOfLibrary }), faults),
      },
      verification,
    }
  }
}

async function list(context: ReportContext, row: MirrorRow): Promise<Listing> {
  const { library } = row
  const { client, access } = await context.service.connect(context.signal)
  assertSameService(row, context.service, access)
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

function ownDirectoriesOf({ ownDirectories }: ReportContext, rootRealPath: string): readonly string[] {
  const below = ownDirectoriesBelow(rootRealPath, ownDirectories)
  return below === 'inside' ? [] : below
}

async function observe(context: ReportContext, row: MirrorRow, settings: MirrorSettings) {
  const root = inspectRoot(context.fs, row.path)
  const { ignore, maxSizeBytes, oneFileSystem, emptyFiles } = settings
  const options = {
    storeDirectory: context.stateDirectory,
    mirrorId: row.id,
    rootRealPath: root.realPath,
    rootDevice: root.device,
    ignore,
    maxSizeBytes,
    oneFileSystem,
    emptyFiles,
    ownDirectories: ownDirectoriesOf(context, root.realPath),
    hashEverything: false,
    listIgnored: true,
    settleMs: null,
  }
  const directories = context.store.directories.list(row.id).map(({ path }) => path)
  await using walk = context.observeTree(options, context.signal)
  return await observeDifferences(walk, directories)
}
