import { basename, dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { systemClock } from '../../foundation/clock.ts'
import { AccessError, RootError, UsageError } from '../../foundation/errors.ts'
import { isWithin } from '../../foundation/files/paths.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { boundedFileSystem } from '../../local/read/bounded-file-system.ts'
import { awaitRoot } from '../../local/read/open-and-recheck-root.ts'
import { freeName } from '../../rules/mirror-activity.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { MirrorSettings } from '../../sync/engine.ts'
import { didYouMean } from '../did-you-mean.ts'
import { isFile, isMissing, listDirectories, realPathOf } from '../files/paths-on-disk.ts'
import { type LibraryTarget, parseLibraryTarget } from '../library-target.ts'
import { adHocMirror } from '../settings/schema.ts'
import type { ConfiguredMirror, Settings } from '../settings/settings.ts'
import { credentialFilesOf } from '../settings/settings.ts'
import { assertNoOverlap, describeRoot } from './check-roots.ts'
import { explainInactive, listRoster, type RosterEntry, releasesName, sortByActivity } from './mirror-roster.ts'

/** The configuration of a mirror, and what else the engine needs. */
export type PlannedMirror = ConfiguredMirror & MirrorSettings

export interface MirrorChoice {
  readonly words: readonly string[]
  /** Where directories without a mirror are sent, as `LIBRARY[:/path]`; undefined without `--to`. */
  readonly to: string | undefined
  readonly cwd: string
  readonly storedMirrors: readonly MirrorRow[]
  readonly home: string
}

/** Waits at most 5 s for the mounts of these mirrors and words, so that links on them can be followed. Ignores silent mounts. */
export async function awaitMounts(
  settings: Settings,
  { words, cwd, storedMirrors }: Pick<MirrorChoice, 'words' | 'cwd' | 'storedMirrors'>,
  signal: AbortSignal,
): Promise<void> {
  const isMeant = ({ name, activity }: RosterEntry) => (words.length > 0 ? words.includes(name) : activity === 'active')
  const meant = listRoster(settings, storedMirrors).filter(isMeant)
  const paths = new Set([...meant.map(({ path }) => path), ...words.map((word) => resolve(cwd, word))])
  const ask = (path: string) => awaitRoot(boundedFileSystem, path, { clock: systemClock, signal }).catch(() => {})
  await Promise.all([...paths].map(ask))
  signal.throwIfAborted()
}

/**
 * Returns the mirrors that the words name. Without words, returns all active ones and the configured ones of another service, which the
 * engine reports as refused. Throws UsageError for an unknown word.
 */
export function chooseMirrors(settings: Settings, choice: MirrorChoice): MirrorSettings[] {
  const roster = listRoster(settings, choice.storedMirrors)
  const { home } = choice
  const active = listActive(settings, roster, home)
  const refused = listRefused(roster)
  const named = chooseNamed(settings, choice, roster).map((mirror) => withBreadth(mirror, home))
  const chosen = choice.words.length > 0 ? named : active
  assertNoOverlap(withoutAll(chosen, refused), active, reservedNames(settings, choice.storedMirrors))
  const others = refused.map((entry) => withBreadth(planEntry(settings, entry), home))
  const mirrors = choice.words.length > 0 ? chosen : [...active, ...others]
  if (mirrors.length > 0) return mirrors
  throw nothingToMirror(roster)
}

function listActive(settings: Settings, roster: readonly RosterEntry[], home: string): PlannedMirror[] {
  const active = roster.filter(({ activity }) => activity === 'active')
  return active.map((entry) => withBreadth(planEntry(settings, entry), home))
}

function listRefused(roster: readonly RosterEntry[]): RosterEntry[] {
  return roster.filter(({ activity, configured }) => configured && activity === 'other-service')
}

function withoutAll(mirrors: readonly MirrorSettings[], others: readonly RosterEntry[]): MirrorSettings[] {
  return mirrors.filter(({ name }) => !others.some((other) => other.name === name))
}

function chooseNamed(settings: Settings, choice: MirrorChoice, roster: readonly RosterEntry[]): MirrorSettings[] {
  const chosen: MirrorSettings[] = []
  for (const word of choice.words) {
    const mirror = chooseOne(settings, { ...choice, roster, word, chosen })
    if (!chosen.some(({ name }) => name === mirror.name)) chosen.push(mirror)
  }
  return chosen
}

function withBreadth<Mirror extends MirrorSettings>(mirror: Mirror, home: string): Mirror {
  return { ...mirror, breadth: describeRoot(mirror.path, home) ?? null }
}

/**
 * Returns the mirrors that a client of the daemon wants to sync, after the checks of the command line; throws UsageError
 * `mirrors-overlap`. `planned`: the daemon's own mirrors, which were checked when it planned them.
 */
export function admitMirrors(
  settings: Settings,
  mirrors: readonly MirrorSettings[],
  planned: readonly MirrorSettings[],
  { storedMirrors, home }: Pick<MirrorChoice, 'storedMirrors' | 'home'>,
): readonly MirrorSettings[] {
  if (mirrors.every((mirror) => planned.some((each) => isDeepStrictEqual({ ...each, ...mirror }, each)))) return mirrors
  const roster = listRoster(settings, storedMirrors)
  const active = listActive(settings, roster, home)
  assertNoOverlap(withoutAll(mirrors, listRefused(roster)), active, reservedNames(settings, storedMirrors))
  return mirrors.map((mirror) => (mirror.breadth === null ? withBreadth(mirror, home) : mirror))
}

export function chooseForDaemon(
  settings: Settings,
  { storedMirrors, home }: Pick<MirrorChoice, 'storedMirrors' | 'home'>,
): { readonly mirrors: readonly PlannedMirror[]; readonly passedOver: readonly string[] } {
  const roster = listRoster(settings, storedMirrors)
  const active = listActive(settings, roster, home)
  assertNoOverlap(active, [], reservedNames(settings, storedMirrors))
  const inactive = roster.filter(({ activity, configured }) => configured && activity !== 'active')
  return { mirrors: active, passedOver: inactive.flatMap((entry) => explainInactive(entry) ?? []) }
}

/** Throws AccessError or UsageError if a daemon would have no mirror to keep up to date. */
export function assertAnyActive(settings: Settings, context: Pick<MirrorChoice, 'storedMirrors' | 'home'>): void {
  const { mirrors, passedOver } = chooseForDaemon(settings, context)
  if (mirrors.length > 0) return
  if (passedOver.length > 0) throw new AccessError('origin-mismatch', passedOver.join('\n'))
  throw nothingToMirror(listRoster(settings, context.storedMirrors))
}

function nothingToMirror(roster: readonly RosterEntry[]): UsageError {
  const reasons = roster.flatMap((entry) => explainInactive(entry) ?? [])
  const hint = 'name a directory, as in "shelfd sync DIR", or configure mirrors'
  return new UsageError('bad-usage', [`Nothing to mirror: ${hint}`, ...reasons].join('\n'))
}

export function settingsOfRow(settings: Settings, storedMirrors: readonly MirrorRow[], row: MirrorRow): MirrorSettings {
  const entry = listRoster(settings, storedMirrors).find((each) => each.row?.id === row.id)
  return entry ? planEntry(settings, entry) : planRow(settings, row)
}

interface OneChoice extends MirrorChoice {
  readonly roster: readonly RosterEntry[]
  readonly word: string
  readonly chosen: readonly MirrorSettings[]
}

function chooseOne(settings: Settings, choice: OneChoice): MirrorSettings {
  const { roster, word, cwd } = choice
  const path = realPathOf(cwd, word)
  const target = choice.to === undefined ? undefined : parseLibraryTarget(choice.to)
  const entry = target
    ? roster.find((each) => each.path === path && isTarget(settings, each, target, path))
    : findNamed(roster, word, cwd)
  if (!entry) {
    if (target) assertNoOtherTarget(roster, path)
    return chooseDirectory(settings, choice, path, target)
  }
  const { configured, activity } = entry
  if (!configured && activity === 'other-service')
    throw new AccessError('origin-mismatch', explainInactive(entry) ?? '')
  if (activity === 'not-configured' && entry.name === word) {
    throw new UsageError('unknown-mirror', explainInactive(entry) ?? '')
  }
  return planEntry(settings, entry)
}

/** Throws UsageError `mirrors-overlap` if an active mirror sends this directory elsewhere. */
function assertNoOtherTarget(roster: readonly RosterEntry[], path: string): void {
  const entry = roster.find((each) => each.activity === 'active' && realPathOf('/', each.path) === path)
  if (!entry) return
  const { name, configured, row } = entry
  const target = `${row?.library.name ?? configured?.library}:${configured?.remotePath ?? row?.remotePath}`
  const text = `"${path}" goes to "${target}" already, by the mirror "${name}", and each file would be sent twice`
  const hint = configured
    ? 'change its library or path in the configuration'
    : `first "shelfd mirrors forget ${shellWord(name)}"`
  throw new UsageError('mirrors-overlap', `${text}; leave out --to, or ${hint}`)
}

function findNamed(roster: readonly RosterEntry[], word: string, cwd: string): RosterEntry | undefined {
  const path = realPathOf(cwd, word)
  const named = roster.find(({ name }) => name === word)
  if (named && (named.activity === 'active' || named.activity === 'named-only')) return named
  return sortByActivity(roster).find((each) => each === named || realPathOf(cwd, each.path) === path)
}

function chooseDirectory(
  settings: Settings,
  choice: OneChoice,
  path: string,
  target: LibraryTarget | undefined,
): MirrorSettings {
  const { word, roster } = choice
  const meant = didYouMean(
    word,
    roster.map(({ name }) => name),
  )
  if (meant !== '' && isMissing(path)) {
    throw new UsageError(
      'unknown-mirror',
      `Cannot find the mirror "${word}"${meant}, and there is no directory "${path}"`,
    )
  }
  const lacksTarget = settings.service.kind === 'configured' && !target
  // A missing directory must not keep others from being synced.
  const mayBeMissing = !lacksTarget && choice.words.length !== 1
  if (!mayBeMissing || !isMissing(path)) assertDirectory(path)
  if (lacksTarget) {
    const text = `Cannot mirror "${word}": no mirror has that name${meant}, and a directory needs --to LIBRARY[:/path]`
    throw new UsageError('bad-usage', text)
  }
  return choice.chosen.find((mirror) => mirror.path === path) ?? adHoc(settings, choice, path, target)
}

export function assertDirectory(path: string): void {
  if (isMissing(path)) {
    const near = didYouMean(basename(path), listDirectories(dirname(path)), join(dirname(path), '/'))
    const text = `Cannot mirror the directory "${path}": it does not exist${near}; check the path, or mount its disk`
    throw new RootError('root-missing', text)
  }
  if (isFile(path)) {
    const text = `Cannot mirror "${path}": it is not a directory; name the directory that holds it, "${dirname(path)}"`
    throw new RootError('root-missing', text)
  }
}

/** Returns the names that stored mirrors reserve: a new mirror cannot have them until `mirrors forget` frees them. */
export function reservedNames(settings: Settings, storedMirrors: readonly MirrorRow[]): Set<string> {
  return new Set(storedMirrors.filter((row) => !releasesName(settings, row)).map(({ name }) => name))
}

function adHoc(settings: Settings, choice: OneChoice, path: string, target: LibraryTarget | undefined): MirrorSettings {
  const reserved = reservedNames(settings, choice.storedMirrors)
  const isTaken = (name: string) =>
    reserved.has(name) || [...settings.mirrors, ...choice.chosen].some((each) => each.name === name)
  const name = freeName(basename(path) || 'root', isTaken)
  const wanted = { library: target?.library ?? name, ...(target?.path ? { remotePath: target.path } : {}) }
  const mirror = adHocMirror(settings.service, path, wanted)
  // An identifier or a mistyped path must not become the name of a new library.
  const isName = !/:|^[0-9a-f]{32}$/.test(wanted.library)
  const mayCreateLibrary = settings.service.kind === 'embedded' && (isName || !target)
  return { ...toEngineMirror(settings, mirror), name, mayCreateLibrary, isAdHoc: true }
}

function isTarget(settings: Settings, { row, configured }: RosterEntry, target: LibraryTarget, path: string): boolean {
  if (!row || configured || releasesName(settings, row)) return false
  const isLibrary = row.library.name === target.library || row.library.remoteId === target.library
  return isLibrary && row.remotePath === (target.path ?? `/${basename(path)}`)
}

function planEntry(settings: Settings, { configured, row }: RosterEntry): PlannedMirror {
  if (configured) return toEngineMirror(settings, configured)
  if (!row) throw new Error('A mirror that is neither configured nor stored')
  return planRow(settings, row)
}

function planRow(settings: Settings, row: MirrorRow): PlannedMirror {
  const target = { library: row.library.remoteId, remotePath: row.remotePath }
  const mirror = toEngineMirror(settings, adHocMirror(settings.service, row.path, target))
  return { ...mirror, name: row.name, mayCreateLibrary: false, isAdHoc: true }
}

function toEngineMirror(settings: Settings, mirror: ConfiguredMirror): PlannedMirror {
  const root = realPathOf('/', mirror.path)
  const credentialFiles = credentialFilesOf(settings)
    .map((file) => realPathOf('/', file))
    .filter((file) => isWithin(root, file))
  const mayCreateLibrary = settings.service.kind === 'embedded' && mirror.library === basename(mirror.path)
  return { ...mirror, mayCreateLibrary, credentialFiles, isAdHoc: false, breadth: null }
}
