/** What must be true, compared with the real state of disk and service and never with what the program reports of itself. */
import { mimeOf } from '../../../src/contract/mime.ts'
import type { Engine, MirrorSettings } from '../../../src/sync/engine.ts'
import { report } from '../../../src/sync/report/report.ts'
import { countFiles } from '../../../src/sync/report/status-of-mirrors.ts'
import type { RunResult } from '../../../src/sync/run/run-sync.ts'
import { findFaultOfShortForm } from '../../support/short-report.ts'
import { sha256Of } from './contents.ts'
import type { SeenUpload } from './network.ts'
import type { Resource } from './service.ts'
import { LEFT_OUT, ROOT, Violation, type World } from './world.ts'

interface LocalFile {
  readonly path: string
  readonly sha256: string
  readonly mime: string
}

/** Every regular file that can be read and that no rule leaves out. */
export function listFiles({ disk }: World): LocalFile[] {
  const nodes = disk.list(ROOT)
  const isOpen = (path: string): boolean => {
    const node = nodes.get(path)
    const cut = path.lastIndexOf('/')
    return node?.isReadable === true && (cut < 0 || isOpen(path.slice(0, cut)))
  }
  return [...nodes].flatMap(([path, node]) => {
    if (node.kind !== 'file' || !isOpen(path) || node.fault !== undefined || path === LEFT_OUT) return []
    const mime = mimeOf(path.slice(path.lastIndexOf('/') + 1))
    return [{ path, sha256: sha256Of(node.bytes), mime }]
  })
}

/** The resource that the store has for a file's content, if the service holds those very bytes under it. */
export function resourceOf({ state, service }: World, { sha256, mime }: LocalFile): Resource | undefined {
  const id = state.judging.findResource(sha256, mime)
  const resource = id === undefined ? undefined : service.find(id)
  return resource?.sha256 === sha256 && resource.mime === mime ? resource : undefined
}

function isSearchable({ service }: World, resource: Resource): boolean {
  const status = service.statusOf(resource)
  return status === 'completed' || status === 'completed_with_warnings'
}

interface Exit {
  readonly result: RunResult | undefined
  readonly settings: MirrorSettings
  readonly isDryRun: boolean
  readonly isWaiting: boolean
  /** How many uploads there had been before. */
  readonly begunAt: number
}

/** What is on disk, read or not, stays known through a run, whatever was in the place of its directory meanwhile (P12). */
export function assertKept(world: World, known: readonly string[]): void {
  if (world.mayRace) return
  const { disk, state } = world
  const now = new Set(state.judging.listPaths())
  const nodes = disk.list(ROOT)
  const lost = known.find((path) => nodes.get(path)?.kind === 'file' && !now.has(path))
  if (lost !== undefined) throw new Violation('P12', `"${lost}" is no longer known, and it was there all the time`)
}

/** Exit 0: every file scanned is at the service; and no run sends more than it may. */
export function assertExit(world: World, { result, isDryRun, isWaiting, begunAt }: Exit): void {
  const sent = world.uploads.slice(begunAt)
  if (isDryRun && sent.length > 0) throw new Violation('dry run', `it sent ${sent.length} files`)
  assertTriesOfRun(sent)
  const code = result?.failure?.code
  if (world.swaps.count === 0 && !world.mayRace && (code === 'root-missing' || code === 'root-mismatch'))
    throw new Violation('P12', `the root is refused although it is in its place: ${result?.failure?.message}`)
  const { newPerRun } = world.traits.limits
  const counted = sent.filter(({ isStored, isClear }) => isStored || !isClear).length
  if (newPerRun !== null && counted > newPerRun) {
    throw new Violation('limits', `a run sent ${counted} times where newPerRun is ${newPerRun}`)
  }
  if (!result || isDryRun) return
  assertRefusals(sent, result)
  if (result.outcome !== 'done') return
  assertNoDoubts(world)
  const unsent = world.state.judging.findUnsent()
  if (unsent !== undefined)
    throw new Violation('exit 0', `"${unsent}" was scanned and never sent, and the run ended well`)
  // Files may have changed after they were sent.
  if (world.mayRace) return
  const named = new Set(world.state.judging.listNamed())
  for (const file of listFiles(world)) {
    if (world.withheld.has(`${file.sha256} ${file.mime}`) && named.has(file.path)) continue
    const resource = resourceOf(world, file)
    if (!resource) throw new Violation('exit 0', `"${file.path}" is not at the service, and the run ended well`)
    if (isWaiting && !isSearchable(world, resource)) {
      throw new Violation('exit 0, P6', `"${file.path}" is not searchable, and the run ended well`)
    }
  }
}

/** No 24 hours of the wall clock hold more uploads than the limit of a day, also when it was set back. */
export function assertDay({ state, traits }: World): void {
  const { newPerDay } = traits.limits
  const sent = state.judging.mostInADay()
  if (newPerDay !== null && sent > newPerDay)
    throw new Violation('limits', `${sent} uploads began within 24 hours where newPerDay is ${newPerDay}`)
}

/** A run in which the service refused a file ends neither well nor as if waiting could help. */
function assertRefusals(sent: readonly SeenUpload[], { outcome }: RunResult): void {
  const refused = sent.find(({ isRefused }) => isRefused)
  if (refused && (outcome === 'done' || outcome === 'temporary' || outcome === 'pending'))
    throw new Violation('verdict', `"${refused.fileName}" was refused, and the run ended ${outcome}`)
}

/** A run that leaves a doubt open has not ended well. */
function assertNoDoubts({ state }: World): void {
  const doubts = state.judging.countDoubts()
  if (doubts > 0) throw new Violation('exit 0', `the run ended well, and ${doubts} uploads are in doubt`)
}

/** In one run a content is sent at most twice without a clear answer (P4). */
function assertTriesOfRun(sent: readonly SeenUpload[]): void {
  const tries = Map.groupBy(
    sent.filter(({ isClear }) => !isClear),
    keyOf,
  )
  for (const [key, uploads] of tries) {
    if (uploads.length > 2) throw new Violation('P4', `${key} was sent ${uploads.length} times in one run`)
  }
}

/** One content is stored once, but for what a lost answer and a listing that does not show it excuse (P3, P4). */
export function assertCopies(world: World): void {
  const isOfCopy = ({ sha256, mime, isStored }: SeenUpload, index: number) =>
    isStored && index >= (world.removedAfter.get(`${sha256} ${mime}`) ?? 0)
  const stored = Map.groupBy(world.uploads.filter(isOfCopy), keyOf)
  for (const [key, uploads] of stored) {
    const excused = uploads.slice(0, -1).filter((upload, index) => isExcused(world, upload, uploads[index + 1])).length
    if (uploads.length > 1 + excused) {
      const times = uploads.map(({ atMs, isAcknowledged }) => `${atMs}${isAcknowledged ? ' acknowledged' : ' lost'}`)
      throw new Violation('P3', `${key} was stored ${uploads.length} times (${times.join(', ')})`)
    }
  }
}

/** Returns whether the next upload of the same content may have been sent for good reason. */
function isExcused(world: World, upload: SeenUpload, next: SeenUpload | undefined): boolean {
  const { service, faults, lossesMs } = world
  if (next === undefined) return false
  const lossesSince = (timeMs: number) => lossesMs.filter((lostMs) => timeMs <= lostMs && lostMs <= next.atMs)
  // After a loss of the store what was renamed meanwhile is not recognised, nor a mirror whose directory was not there.
  const copies = service.resources.filter(({ sha256, mime, storedMs, fileName }) => {
    const isSame = sha256 === upload.sha256 && mime === upload.mime && storedMs <= upload.atMs
    return isSame && (fileName === next.fileName || lossesSince(storedMs).length === 0)
  })
  const losses = lossesSince(upload.atMs)
  const isForgotten = losses.length > 0
  const madeMs = service.directories.get('/Docs') ?? Number.POSITIVE_INFINITY
  if (losses.some((lostMs) => madeMs >= lostMs)) return true
  if (!isForgotten && copies.some(({ id }) => world.wasReportedBefore(id, next.atMs))) return false
  const sinceMs = isForgotten ? upload.atMs : lastDoubtMs(world, upload, next)
  return copies.every(({ id, listedMs }) => listedMs > sinceMs || faults.isRefusedAlways('downloadResource', id))
}

/** When the last upload before `next` ended in doubt, under whatever name: a search has to follow it that finds what is listed by then. */
function lastDoubtMs({ uploads }: World, upload: SeenUpload, next: SeenUpload): number {
  const between = uploads.slice(uploads.indexOf(upload), uploads.indexOf(next))
  return between.findLast((one) => one.isInDoubt && keyOf(one) === keyOf(next))?.atMs ?? upload.atMs
}

function keyOf({ sha256, mime }: SeenUpload): string {
  return `${sha256.slice(0, 8)} ${mime}`
}

/** After enough runs in peace: all files that nothing keeps from it are at the service; all others are named. */
export function assertConverged(world: World, settings: MirrorSettings, { isHealed }: { isHealed: boolean }): void {
  const { state, faults } = world
  const named = new Set(state.judging.listNamed())
  for (const file of listFiles(world)) {
    if (resourceOf(world, file)) continue
    if (faults.isAlways('createDirectory', settings.remotePath) && !isHealed) continue
    const isAlways = faults.isAlways('uploadFile', `${file.sha256} ${file.mime}`) || hasBadCopy(world, file)
    const lacksPlace = world.traits.service.hasDirectoryField && hasBadDirectory(world, settings, file.path)
    if (isHealed || (!isAlways && !lacksPlace))
      throw new Violation('converged', `"${file.path}" never reached the service`)
    if (!lacksPlace && !named.has(file.path))
      throw new Violation('named', `"${file.path}" is not at the service, and the program does not report it`)
  }
}

/** One that may be an earlier upload of it, and that the service never gives. */
function hasBadCopy({ service, faults }: World, { mime }: LocalFile): boolean {
  return service.resources.some(
    (resource) => resource.mime === mime && faults.isAlways('downloadResource', resource.id),
  )
}

function hasBadDirectory({ faults }: World, { remotePath }: MirrorSettings, path: string): boolean {
  for (let cut = path.length; cut >= 0; cut = path.lastIndexOf('/', cut - 1)) {
    const directory = cut === path.length ? path.slice(0, Math.max(0, path.lastIndexOf('/'))) : path.slice(0, cut)
    if (faults.isAlways('createDirectory', directory === '' ? remotePath : `${remotePath}/${directory}`)) return true
    if (cut <= 0) break
  }
  return false
}

interface Loss {
  readonly result: RunResult
  readonly how: string
  /** Files that the store knew before. */
  readonly known: number
  readonly uploads: number
}

/** A root that is gone, another one, or emptied halts its mirror (P12). */
export function assertHalted(world: World, { result, how, known, uploads }: Loss): void {
  if (world.uploads.length > uploads && how !== 'emptied')
    throw new Violation('P12, P15', `files were sent though the root is ${how}`)
  const now = world.state.judging.countFiles()
  const isLoss = how !== 'emptied' || known >= 5
  if (isLoss && now < known)
    throw new Violation('P12', `${known - now} files were recorded as removed though the root is ${how}`)
  if (isLoss && known > 0 && result.outcome === 'done')
    throw new Violation('P12', `the run ended well though the root is ${how}`)
}

interface Tidying {
  readonly before: readonly Resource[]
  /** The document that was removed; null: what no file stands for was. */
  readonly path: string | null
  /** What was removed before that. */
  readonly withheld: ReadonlySet<string>
  readonly isDone: boolean
  readonly keepVersions: number
}

/** What is tidied leaves every file its document (P7), and leaves nothing of what it was to remove (P13). */
export function assertTidied(world: World, { before, path, withheld, isDone, keepVersions }: Tidying): void {
  const { service, state } = world
  for (const { id } of before) {
    const holder = service.find(id) ? undefined : state.judging.findHolder(id)
    if (holder !== undefined) throw new Violation('P7', `the document of "${holder}" is gone`)
  }
  const left = path === null && isDone && keepVersions === 0 ? state.judging.listUnused() : []
  if (left.length > 0) throw new Violation('P13', `${left.join(', ')} are left though no file stands for them`)
  for (const { id, key } of state.judging.listWithheld()) {
    const files = withheld.has(key) ? [] : state.judging.listFilesOf(id)
    if (files.length > 0 && !(path !== null && files.includes(path)))
      throw new Violation('P7', `the document of "${files[0]}" was removed with that of "${path}"`)
  }
  if (isDone && world.withheld.size > 0)
    for (const { sha256, mime } of service.resources)
      if (world.withheld.has(`${sha256} ${mime}`)) throw new Violation('P13', 'what was removed is still there')
}

/** What must not change in a world in which nothing changes any more: uploads, directories, state (P17). */
export interface WorldState {
  readonly uploads: number
  readonly directories: number
  readonly state: string
}

export function stateOf({ uploads, service, state }: World): WorldState {
  return { uploads: uploads.length, directories: service.directories.size, state: state.dump() }
}

export function assertUnchanged(before: WorldState, after: WorldState): void {
  if (after.uploads > before.uploads) throw new Violation('P17', 'a file was sent in an unchanged world')
  if (after.directories > before.directories)
    throw new Violation('P17', 'a directory was created in an unchanged world')
  if (after.state !== before.state) throw new Violation('P17', 'the state changed in an unchanged world')
}

const LOCAL_CLASSES = [
  'in-sync',
  'processing',
  'local-only',
  'changed',
  'missing-remotely',
  'needs-attention',
  'unknown',
]

/** The counts of a status, which takes most files for searchable, are those that reading each file gives. */
function assertSameCounts({ store }: Engine, mirrorId: number): void {
  const { tallyFiles, tallyStates } = store.report
  const [shown, counted] = [tallyFiles(mirrorId), tallyStates(mirrorId)].map((tallies) =>
    JSON.stringify(countFiles(tallies, false)),
  )
  if (shown !== counted) throw new Violation('P19', `the status counts ${shown} where the store has ${counted}`)
}

/** Every local file is in exactly one class of the report, which describes it correctly (P19). */
export async function assertReport(world: World, engine: Engine, settings: MirrorSettings): Promise<void> {
  const row = engine.store.mirrors.findByName(settings.name)
  if (!row) return
  assertSameCounts(engine, row.id)
  engine.store.report.forgetListed()
  const context = { ...engine, stateDirectory: '/state', listConcurrency: 2 }
  const reading = (async () => {
    for await (const mirror of report(context, [{ row, settings }], { isOffline: false })) {
      const fault = findFaultOfShortForm(mirror)
      if (fault !== undefined) throw new Violation('P19', `the short form of the report is wrong: ${fault}`)
      return [...mirror.rows]
    }
    return []
  })()
  const rows = (await world.drive(world.life, reading)) ?? []
  const entries = rows.map(({ entry }) => entry)
  const local = Map.groupBy(
    entries.filter((entry) => LOCAL_CLASSES.includes(entry.class) && entry.path !== null),
    ({ path }) => path,
  )
  for (const file of listFiles(world)) {
    const found = local.get(file.path) ?? []
    if (found.length !== 1) throw new Violation('P19', `"${file.path}" has ${found.length} rows in the report`)
    const resource = resourceOf(world, file)
    const isFound = resource !== undefined && isSearchable(world, resource)
    const shown = found[0]?.class
    if ((shown === 'in-sync') !== isFound) {
      throw new Violation(
        'P19',
        `"${file.path}" is ${shown} in the report, and ${isFound ? 'searchable' : 'not searchable'} in truth`,
      )
    }
  }
}
