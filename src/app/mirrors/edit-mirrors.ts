import { createHash } from 'node:crypto'
import { basename, isAbsolute, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { CheckedMirror, ChosenMirror, FieldProblem, RulesEffect } from '../../contract/mirror-edits.ts'
import type { MirrorEdits } from '../../dashboard/sources.ts'
import { RequestError, RootError, ShelfdError, UsageError } from '../../foundation/errors.ts'
import { shellWord } from '../../foundation/text/safe-text.ts'
import { type ScanRules, scanRulesOf } from '../../local/ignore/ignore-scope.ts'
import { boundedFileSystem } from '../../local/read/bounded-file-system.ts'
import { freeName, mayUpload } from '../../rules/mirror-activity.ts'
import type { MirrorRow } from '../../store/tables/mirrors.ts'
import type { Service } from '../../sync/engine.ts'
import { findLibrary } from '../../sync/pin/pin-mirror.ts'
import { openStateReader } from '../../sync/reading/state-reader.ts'
import { reloadDaemon } from '../ask-daemon-to-reload.ts'
import { realPathOf } from '../files/paths-on-disk.ts'
import {
  assertRewritable,
  type ReadTextFile,
  readTextFile,
  rewriteFile,
  type TextFile,
} from '../files/private-files.ts'
import { configCandidates, expandHome, type Surroundings } from '../settings/config-paths.ts'
import { asIfWritten, asPrivateFile } from '../settings/draft.ts'
import { withoutSetting, withSection, withTexts } from '../settings/edit-file.ts'
import { adHocMirror } from '../settings/schema.ts'
import type { ConfiguredMirror, Settings } from '../settings/settings.ts'
import { assertDirectory, chooseForDaemon, keptNames } from './choose-mirrors.ts'
import { describeRoot } from './describe-root.ts'
import { listRoster } from './mirror-roster.ts'

export interface EditsInput extends Surroundings {
  readonly stateDir: string
  /** Real paths. */
  readonly ownDirectories: readonly string[]
  /** Reads the configuration anew; throws UsageError. */
  readSettings(readFile?: ReadTextFile): Settings
  knownMirrors(): readonly MirrorRow[]
  service(): Service
  onChange?(settings: Settings): void
}

const PREVIEW_MS = 5_000
const DISK_ANSWERS_WITHIN_MS = 10_000
const LIBRARIES_WITHIN_MS = 2_000
const MAX_LIBRARIES = 500

/** No call names a command, an address or a credential: a change that affects more than its mirror is refused. */
export function createMirrorEdits(input: EditsInput): MirrorEdits {
  return {
    rules: async ({ mirror }) => {
      const { file, revision, settings } = openFile(input)
      return { file, revision, ignore: [...findEditable(input, settings, mirror).ignore] }
    },
    rulesEffect: async ({ mirror, ignore }) => {
      const found = findEditable(input, openFile(input).settings, mirror)
      return preview(input, found.path, { before: scanRulesOf(found), after: scanRulesOf({ ...found, ignore }) })
    },
    saveRules: async ({ mirror, revision, ignore }) =>
      write(input, revision, { ...findEditable(input, openFile(input).settings, mirror), ignore: [...ignore] }),
    newMirror: async (_, signal) => {
      const { file, revision } = openFile(input)
      const late = sleep(LIBRARIES_WITHIN_MS, [], { ref: false })
      return { file, revision, libraries: await Promise.race([listLibraries(input.service(), signal), late]) }
    },
    checkMirror: (chosen, signal) => checkMirror(input, chosen, signal),
    addMirror: async ({ revision, mayCreateLibrary, ...chosen }, signal) => {
      const mirror = await choose(input, chosen, openUnchanged(input, revision))
      const { library } = mirror
      if (await isNewLibrary(input.service(), library, signal)) {
        if (!mayCreateLibrary) throw new RequestError('conflict', `There is no library "${library}" now`, 409)
        await (await input.service().connect(signal)).client.createLibrary(library, null, signal)
      }
      return write(input, revision, mirror)
    },
    removeMirror: async ({ mirror: name, revision }) => {
      const opened = openUnchanged(input, revision)
      const { before, settings } = opened
      const mirror = settings.mirrors.find((each) => each.name === name)
      if (!mirror) throw notConfigured(name)
      const text = withoutSetting(before.text, ['mirrors', settings.mirrors.indexOf(mirror)]) ?? before.text
      const left = settings.mirrors.filter((each) => each !== mirror)
      const { message } = await save(input, opened, { text, after: readChanged(input, opened, text, left) })
      const stay = `"${mirror.path}" and what was sent to "${mirror.library}" stay as they are`
      const known = `the state knows it until "shelfd mirrors forget ${shellWord(name)}"`
      return { message: `${message.replace(/^Written to/, 'Removed from')} ${stay}; ${known}.` }
    },
  }
}

interface OpenedFile {
  readonly file: string
  readonly before: TextFile
  /** Its text; undefined while there is none. */
  readonly was: string | undefined
  readonly revision: string
  readonly settings: Settings
}

/** Throws FileError where the file cannot be written. */
function openFile(input: EditsInput): OpenedFile {
  const settings = input.readSettings()
  const file = settings.configFile ?? configCandidates(undefined, input)[0]?.file ?? ''
  assertRewritable(file)
  const found = readTextFile(file)
  const revision = createHash('sha256')
    .update(found ? `there ${found.text}` : 'missing')
    .digest('hex')
  return { file, before: found ?? asPrivateFile(file, ''), was: found?.text, revision, settings }
}

function openUnchanged(input: EditsInput, revision: string): OpenedFile {
  const opened = openFile(input)
  if (opened.revision === revision) return opened
  const text = `"${opened.file}" was changed meanwhile, so nothing was written; close this and open it again`
  throw new RequestError('conflict', text, 409)
}

function listEditable(input: EditsInput, settings: Settings): readonly ConfiguredMirror[] {
  if (settings.mirrors.length > 0) return settings.mirrors
  const roster = listRoster(settings, input.knownMirrors())
  return roster.flatMap(({ activity, row }) => (activity === 'active' && row ? [fromState(settings, row)] : []))
}

/** What the configuration says of a mirror that only the state knows. */
function fromState({ service }: Settings, { name, path, library: { name: title, remoteId }, remotePath }: MirrorRow) {
  const library = service.kind === 'embedded' ? title : remoteId
  return { ...adHocMirror(service, path, { library, remotePath }), name }
}

function findEditable(input: EditsInput, settings: Settings, name: string): ConfiguredMirror {
  const mirror = listEditable(input, settings).find((each) => each.name === name)
  if (mirror) return mirror
  throw notConfigured(name)
}

function notConfigured(name: string): RequestError {
  const text = `The configuration does not name the mirror "${name}"; a file .shelfdignore in its directory leaves files out`
  return new RequestError('conflict', text, 409)
}

/** Writes the mirror into the file, and has a running daemon reload it. */
async function write(input: EditsInput, revision: string, mirror: ConfiguredMirror) {
  const opened = openUnchanged(input, revision)
  return save(input, opened, plan(input, opened, mirror))
}

const WITHOUT_MIRRORS =
  ' No mirror is left in it, so only what "shelfd sync DIR" mirrored is synced; "shelfd mirrors add DIR" adds one.'

async function save(input: EditsInput, opened: OpenedFile, { text, after }: ReturnType<typeof plan>) {
  rewriteFile(opened.file, text, opened.was)
  input.onChange?.(after)
  const said = await reloadDaemon(input.stateDir)
  const isEmpty = after.mirrors.length === 0
  const next = said ?? `No daemon runs${isEmpty ? '' : ', so the next sync takes it over'}`
  return { message: `Written to ${opened.file}. ${next}.${isEmpty ? WITHOUT_MIRRORS : ''}` }
}

/** Throws UsageError where the new configuration is unusable or changes more than the mirror. */
function plan(input: EditsInput, opened: OpenedFile, mirror: ConfiguredMirror) {
  const { before, settings } = opened
  const { mirrors } = settings
  // A configuration with mirrors replaces those of "sync DIR", so it must name them as well.
  const unnamed = mirrors.length > 0 ? [] : listEditable(input, settings)
  const wanted = [...unnamed.filter(({ name }) => name !== mirror.name), mirror]
  const text = wanted.reduce((draft, each) => withMirror(draft, mirrors, each), before.text)
  const changed = mirrors.map((each) => (each.name === mirror.name ? mirror : each))
  const added = wanted.filter(({ name }) => !mirrors.some((each) => each.name === name))
  const after = readChanged(input, opened, text, [...changed, ...added])
  chooseForDaemon(after, { known: input.knownMirrors(), home: input.home })
  return { text, after }
}

/** Reads a text of the file; throws UsageError unless it differs by these mirrors alone. */
function readChanged(
  input: EditsInput,
  { file, before, settings }: OpenedFile,
  text: string,
  mirrors: readonly ConfiguredMirror[],
): Settings {
  const after = input.readSettings(asIfWritten(file, before, text))
  if (!isDeepStrictEqual(after, { ...settings, configFile: after.configFile, mirrors })) {
    const why = 'more than this mirror would change, since the file refers to one text in several places'
    throw new UsageError('bad-configuration', `Cannot change "${file}" here: ${why}; edit it by hand`)
  }
  return after
}

function withMirror(source: string, mirrors: readonly ConfiguredMirror[], mirror: ConfiguredMirror): string {
  const { name, path, library, remotePath, ignore } = mirror
  const index = mirrors.findIndex((each) => each.name === name)
  const known = mirrors[index]
  if (known) return withTexts(source, ['ignore', 'mirrors', index], { before: known.ignore, after: ignore })
  return withSection(source, 'mirrors', { name, path, library, remotePath, ...(ignore.length > 0 && { ignore }) })
}

async function checkMirror(input: EditsInput, chosen: ChosenMirror, signal: AbortSignal): Promise<CheckedMirror> {
  try {
    const mirror = await choose(input, chosen, openFile(input))
    const rules = { before: null, after: scanRulesOf(mirror) }
    const found = await checkField('path', () => preview(input, mirror.path, rules))
    const { name, path, library, remotePath } = mirror
    const isNew = await isNewLibrary(input.service(), library, signal)
    return { problem: null, mirror: { name, path, library, remotePath, isNewLibrary: isNew, found } }
  } catch (error) {
    if (!(error instanceof FieldError)) throw error
    return { problem: { field: error.field, message: error.message }, mirror: null }
  }
}

async function choose(input: EditsInput, chosen: ChosenMirror, opened: OpenedFile): Promise<ConfiguredMirror> {
  const path = chosenPath(chosen, input.home)
  await checkField('path', () => inTime(path, Promise.resolve(boundedFileSystem.answers(path))))
  const mirror = await chooseNewMirror(input, chosen, opened.settings)
  await checkField('path', () => plan(input, opened, mirror))
  return mirror
}

type Sides = Readonly<{ before: ScanRules | null; after: ScanRules }>

async function preview({ stateDir, ownDirectories }: EditsInput, path: string, sides: Sides): Promise<RulesEffect> {
  const reader = openStateReader(stateDir)
  try {
    return await inTime(path, reader.read('preview', { path, ...sides, ownDirectories, mostMs: PREVIEW_MS }))
  } finally {
    void reader[Symbol.asyncDispose]()
  }
}

async function inTime<T>(path: string, work: Promise<T>): Promise<T> {
  const late = sleep(DISK_ANSWERS_WITHIN_MS, undefined, { ref: false }).then(() => {
    throw new RootError('root-unreadable', `Cannot look through "${path}": its disk does not answer`)
  })
  return Promise.race([work, late])
}

/** Returns the libraries that take files from this credential; none where the service does not say. */
async function listLibraries(service: Service, signal: AbortSignal): Promise<string[]> {
  const names = new Set<string>()
  try {
    const { client, access } = await service.connect(signal)
    for await (const library of client.listLibraries(signal)) {
      if (mayUpload(library, access)) names.add(library.name)
      if (names.size === MAX_LIBRARIES) break
    }
  } catch {
    // A name can be typed, and the check reports what is wrong with the service.
  }
  return [...names].toSorted((left, right) => left.localeCompare(right))
}

class FieldError extends Error {
  readonly field: FieldProblem['field']

  constructor(field: FieldProblem['field'], message: string) {
    super(message)
    this.field = field
  }
}

/** Runs a check of one field: what it throws for the user becomes a FieldError. */
async function checkField<T>(field: FieldProblem['field'], check: () => T | Promise<T>): Promise<T> {
  try {
    return await check()
  } catch (error) {
    throw error instanceof ShelfdError ? new FieldError(field, error.message) : error
  }
}

function chosenPath({ path }: ChosenMirror, home: string): string {
  const expanded = expandHome(path.trim(), home)
  if (isAbsolute(expanded)) return resolve(expanded)
  throw new FieldError('path', 'Give the whole path of a directory, such as ~/Papers')
}

/** Completes an input form, without asking the service; throws FieldError. */
async function chooseNewMirror(
  { knownMirrors, home }: EditsInput,
  chosen: ChosenMirror,
  settings: Settings,
): Promise<ConfiguredMirror> {
  const path = chosenPath(chosen, home)
  await checkField('path', () => assertDirectory(path))
  const real = realPathOf('/', path)
  const same = settings.mirrors.find((mirror) => realPathOf('/', mirror.path) === real)
  if (same) throw new FieldError('path', `The mirror "${same.name}" is of this directory already`)
  const breadth = describeRoot(path, home)
  if (breadth !== undefined)
    throw new FieldError('path', `"${path}" holds ${breadth}; only "shelfd sync" mirrors that, once it is confirmed`)
  const known = knownMirrors()
  const earlier = listRoster(settings, known).find(
    ({ row, configured, activity }) => row?.path === real && !configured && activity !== 'other-service',
  )?.row
  const isAgain =
    ['', earlier?.name].includes(chosen.name.trim()) &&
    ['', earlier?.library.name, earlier?.library.remoteId].includes(chosen.library.trim())
  // What it has sent is not sent again.
  if (earlier && isAgain) return fromState(settings, earlier)
  const kept = keptNames(settings, known)
  const isTaken = (name: string) => kept.has(name) || settings.mirrors.some((mirror) => mirror.name === name)
  const name = chosen.name.trim() || freeName(basename(path), isTaken)
  if (isTaken(name)) throw new FieldError('name', `There is a mirror "${name}" already`)
  if (!/^[^/\p{Cc}]+$/u.test(name)) throw new FieldError('name', 'A name has no "/" in it')
  const library = chosen.library.trim() || (settings.service.kind === 'embedded' ? name : '')
  if (library === '') throw new FieldError('library', 'Choose a library of the service, or name a new one')
  const isInUse = (place: string) =>
    settings.mirrors.some((mirror) => mirror.library === library && mirror.remotePath === place)
  return {
    ...adHocMirror(settings.service, path, { library, remotePath: freeName(`/${basename(path)}`, isInUse) }),
    name,
  }
}

/** Throws FieldError for a library that takes nothing from this credential. */
async function isNewLibrary(service: Service, library: string, signal: AbortSignal): Promise<boolean> {
  const connection = await service.connect(signal)
  const { access } = connection
  const found = await checkField('library', () => findLibrary(connection, library, signal))
  if (found ? mayUpload(found, access) : access.abilities.includes('library.create')) return !found
  const why = found ? 'may not add to it' : 'may not make it, and there is none of that name'
  throw new FieldError('library', `The access token ${why}: "${library}"`)
}
