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
import { assertApart } from './check-overlap.ts'
import { describeRoot } from './describe-root.ts'
import { byActivity, explainInactive, listRoster, type RosterEntry, releasesName } from './mirror-roster.ts'

/** A mirror with what the configuration says of it and what the engine needs. */
export type PlannedMirror = ConfiguredMirror & MirrorSettings

export interface MirrorChoice {
  readonly words: readonly string[]
  /** `LIBRARY[:/path]` for directories that no mirror names. */
  readonly to: string | undefined
  readonly cwd: string
  readonly known: readonly MirrorRow[]
  readonly home: string
}

/**
 * Asks the mounts of these mirrors and words for at most 5 s, so that links on them can be followed. Silent mounts are named when their
 * mirror is synced.
 */
export async function askMounts(
  settings: Settings,
  { words, cwd, known }: Pick<MirrorChoice, 'words' | 'cwd' | 'known'>,
  signal: AbortSignal,
): Promise<void> {
  const isMeant = ({ name, activity }: RosterEntry) => (words.length > 0 ? words.includes(name) : activity === 'active')
  const meant = listRoster(settings, known).filter(isMeant)
  const paths = new Set([...meant.map(({ path }) => path), ...words.map((word) => resolve(cwd, word))])
  const ask = (path: string) => awaitRoot(boundedFileSystem, path, { clock: systemClock, signal }).catch(() => {})
  await Promise.all([...paths].map(ask))
  signal.throwIfAborted()
}

/**
 * Returns the named mirrors; without names, all active ones and those of another service, which the engine reports as refused.
 * Throws UsageError for an unknown word.
 */
export function chooseMirrors(settings: Settings, choice: MirrorChoice): MirrorSettings[] {
  const roster = listRoster(settings, choice.known)
  const { home } = choice
  const active = listActive(settings, roster, home)
  const refused = listRefused(roster)
  const named = chooseNamed(settings, choice, roster).map((mirror) => withBreadth(mirror, home))
  const chosen = choice.words.length > 0 ? named : active
  assertApart({ chosen: withoutAll(chosen, refused), active, known: keptNames(settings, choice.known) })
  const others = refused.map((entry) => withBreadth(toChosen(settings, entry), home))
  const mirrors = choice.words.length > 0 ? chosen : [...active, ...others]
  if (mirrors.length > 0) return mirrors
  throw nothingToMirror(roster)
}

function listActive(settings: Settings, roster: readonly RosterEntry[], home: string): PlannedMirror[] {
  const active = roster.filter(({ activity }) => activity === 'active')
  return active.map((entry) => withBreadth(toChosen(settings, entry), home))
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
 * Checks the mirrors of a client as the command line does; throws UsageError `mirrors-overlap`. `kept`: those of the daemon, which were
 * compared when it planned them.
 */
export function admitMirrors(
  settings: Settings,
  mirrors: readonly MirrorSettings[],
  kept: readonly MirrorSettings[],
  { known, home }: Pick<MirrorChoice, 'known' | 'home'>,
): readonly MirrorSettings[] {
  if (mirrors.every((mirror) => kept.some((each) => isDeepStrictEqual({ ...each, ...mirror }, each)))) return mirrors
  const roster = listRoster(settings, known)
  const active = listActive(settings, roster, home)
  assertApart({ chosen: withoutAll(mirrors, listRefused(roster)), active, known: keptNames(settings, known) })
  return mirrors.map((mirror) => (mirror.breadth === null ? withBreadth(mirror, home) : mirror))
}

export function chooseForDaemon(
  settings: Settings,
  { known, home }: Pick<MirrorChoice, 'known' | 'home'>,
): { readonly mirrors: readonly PlannedMirror[]; readonly passedOver: readonly string[] } {
  const roster = listRoster(settings, known)
  const active = listActive(settings, roster, home)
  assertApart({ chosen: active, active: [], known: keptNames(settings, known) })
  const inactive = roster.filter(({ activity, configured }) => configured && activity !== 'active')
  return {
    mirrors: active,
    passedOver: inactive.flatMap((entry) => explainInactive(entry) ?? []),
  }
}

/** Throws AccessError or UsageError when a daemon would have no mirror to keep. */
export function assertAnyKept(settings: Settings, context: Pick<MirrorChoice, 'known' | 'home'>): void {
  const { mirrors, passedOver } = chooseForDaemon(settings, context)
  if (mirrors.length > 0) return
  if (passedOver.length > 0) throw new AccessError('origin-mismatch', passedOver.join('\n'))
  throw nothingToMirror(listRoster(settings, context.known))
}

function nothingToMirror(roster: readonly RosterEntry[]): UsageError {
  const reasons = roster.flatMap((entry) => explainInactive(entry) ?? [])
  const hint = 'name a directory, as in "shelfd sync DIR", or configure mirrors'
  return new UsageError('bad-usage', [`Nothing to mirror: ${hint}`, ...reasons].join('\n'))
}

export function settingsOfRow(settings: Settings, known: readonly MirrorRow[], row: MirrorRow): MirrorSettings {
  const entry = listRoster(settings, known).find((each) => each.row?.id === row.id)
  return entry ? toChosen(settings, entry) : ofRow(settings, row)
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
    : findMeant(roster, word, cwd)
  if (!entry) {
    if (target) assertNoOtherPlace(roster, path)
    return chooseDirectory(settings, choice, path, target)
  }
  const { configured, activity } = entry
  if (!configured && activity === 'other-service')
    throw new AccessError('origin-mismatch', explainInactive(entry) ?? '')
  if (activity === 'not-configured' && entry.name === word) {
    throw new UsageError('unknown-mirror', explainInactive(entry) ?? '')
  }
  return toChosen(settings, entry)
}

/** Throws UsageError `mirrors-overlap` where an active mirror sends this directory elsewhere. */
function assertNoOtherPlace(roster: readonly RosterEntry[], path: string): void {
  const entry = roster.find((each) => each.activity === 'active' && realPathOf('/', each.path) === path)
  if (!entry) return
  const { name, configured, row } = entry
  const place = `${row?.library.name ?? configured?.library}:${configured?.remotePath ?? row?.remotePath}`
  const text = `"${path}" goes to "${place}" already, by the mirror "${name}", and each file would be sent twice`
  const hint = configured ? 'change its place in the configuration' : `first "shelfd mirrors forget ${shellWord(name)}"`
  throw new UsageError('mirrors-overlap', `${text}; leave out --to, or ${hint}`)
}

function findMeant(roster: readonly RosterEntry[], word: string, cwd: string): RosterEntry | undefined {
  const path = realPathOf(cwd, word)
  const named = roster.find(({ name }) => name === word)
  if (named && (named.activity === 'active' || named.activity === 'named-only')) return named
  return byActivity(roster).find((each) => each === named || realPathOf(cwd, each.path) === path)
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

/** Names that a new mirror cannot take. */
export function keptNames(settings: Settings, known: readonly MirrorRow[]): Set<string> {
  return new Set(known.filter((row) => !releasesName(settings, row)).map(({ name }) => name))
}

function adHoc(settings: Settings, choice: OneChoice, path: string, target: LibraryTarget | undefined): MirrorSettings {
  const kept = keptNames(settings, choice.known)
  const isTaken = (name: string) =>
    kept.has(name) || [...settings.mirrors, ...choice.chosen].some((each) => each.name === name)
  const name = freeName(basename(path) || 'root', isTaken)
  const wanted = { library: target?.library ?? name, ...(target?.path ? { remotePath: target.path } : {}) }
  const mirror = adHocMirror(settings.service, path, wanted)
  // An identifier or a mistyped path must not become a name.
  const isName = !/:|^[0-9a-f]{32}$/.test(wanted.library)
  const mayCreateLibrary = settings.service.kind === 'embedded' && (isName || !target)
  return { ...toEngineMirror(settings, mirror), name, mayCreateLibrary, isAdHoc: true }
}

function isTarget(settings: Settings, { row, configured }: RosterEntry, target: LibraryTarget, path: string): boolean {
  if (!row || configured || releasesName(settings, row)) return false
  const isLibrary = row.library.name === target.library || row.library.remoteId === target.library
  return isLibrary && row.remotePath === (target.path ?? `/${basename(path)}`)
}

function toChosen(settings: Settings, { configured, row }: RosterEntry): PlannedMirror {
  if (configured) return toEngineMirror(settings, configured)
  if (!row) throw new Error('A mirror that is neither configured nor known')
  return ofRow(settings, row)
}

function ofRow(settings: Settings, row: MirrorRow): PlannedMirror {
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
