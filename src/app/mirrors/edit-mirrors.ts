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
import { reloadDaemon } from '../ask-daemon.ts'
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
import { describeRoot } from './check-roots.ts'
import { assertDirectory, chooseForDaemon, reservedNames } from './choose-mirrors.ts'
import { listRoster } from './mirror-roster.ts'

export interface EditsInput extends Surroundings {
  readonly stateDir: string
  /** Real paths of the directories that hold the program's own data. */
  readonly ownDirectories: readonly string[]
  /** Reads the configuration anew; throws UsageError. */
  readSettings(readFile?: ReadTextFile): Settings
  storedMirrors(): readonly MirrorRow[]
  service(): Service
  onChange?(settings: Settings): void
}

const PREVIEW_MS = 5_000
const DISK_ANSWERS_WITHIN_MS = 10_000
const LIBRARIES_WITHIN_MS = 2_000
const MAX_LIBRARIES = 500

/** Returns the dashboard's edits. None can set a command, an address or a credential, and each changes only its own mirror. */
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
      writeMirror(input, revision, { ...findEditable(input, openFile(input).settings, mirror), ignore: [...ignore] }),
    newMirror: async (_, signal) => {
      const { file, revision } = openFile(input)
      const timeout = sleep(LIBRARIES_WITHIN_MS, [], { ref: false })
      return { file, revision, libraries: await Promise.race([listLibraries(input.service(), signal), timeout]) }
    },
    checkMirror: (chosen, signal) => checkMirror(input, chosen, signal),
    addMirror: async ({ revision, mayCreateLibrary, ...chosen }, signal) => {
      const mirror = await chooseMirror(input, chosen, openUnchanged(input, revision))
      const { library } = mirror
      if (await isNewLibrary(input.service(), library, signal)) {
        if (!mayCreateLibrary) throw new RequestError('conflict', `There is no library "${library}" now`, 409)
        await (await input.service().connect(signal)).client.createLibrary(library, null, signal)
      }
      return writeMirror(input, revision, mirror)
    },
    removeMirror: async ({ mirror: name, revision }) => {
      const opened = openUnchanged(input, revision)
      const { before, settings } = opened
      const mirror = settings.mirrors.find((each) => each.name === name)
      if (!mirror) throw notConfigured(name)
      const text = withoutSetting(before.text, ['mirrors', settings.mirrors.indexOf(mirror)]) ?? before.text
      const remaining = settings.mirrors.filter((each) => each !== mirror)
      const { message } = await saveFile(input, opened, { text, after: readChanged(input, opened, text, remaining) })
      const stay = `"${mirror.path}" and what was sent to "${mirror.library}" stay as they are`
      const forgetting = `the state keeps the mirror until "shelfd mirrors forget ${shellWord(name)}"`
      return { message: `${message.replace(/^Written to/, 'Removed from')} ${stay}; ${forgetting}.` }
    },
  }
}

interface OpenedFile {
  readonly file: string
  readonly before: TextFile
  /** The text of the file; undefined if it does not exist. */
  readonly textBefore: string | undefined
  readonly revision: string
  readonly settings: Settings
}

/** Reads the configuration file; throws FileError if it cannot be written. */
function openFile(input: EditsInput): OpenedFile {
  const settings = input.readSettings()
  const file = settings.configFile ?? configCandidates(undefined, input)[0]?.file ?? ''
  assertRewritable(file)
  const found = readTextFile(file)
  const revision = createHash('sha256')
    .update(found ? `there ${found.text}` : 'missing')
    .digest('hex')
  return { file, before: found ?? asPrivateFile(file, ''), textBefore: found?.text, revision, settings }
}

function openUnchanged(input: EditsInput, revision: string): OpenedFile {
  const opened = openFile(input)
  if (opened.revision === revision) return opened
  const text = `"${opened.file}" was changed meanwhile, so nothing was written; close this and open it again`
  throw new RequestError('conflict', text, 409)
}

function listEditable(input: EditsInput, settings: Settings): readonly ConfiguredMirror[] {
  if (settings.mirrors.length > 0) return settings.mirrors
  const roster = listRoster(settings, input.storedMirrors())
  return roster.flatMap(({ activity, row }) => (activity === 'active' && row ? [fromState(settings, row)] : []))
}

/** Returns what the configuration would say of a mirror that is only in the state. */
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
async function writeMirror(input: EditsInput, revision: string, mirror: ConfiguredMirror) {
  const opened = openUnchanged(input, revision)
  return saveFile(input, opened, planChange(input, opened, mirror))
}

const WITHOUT_MIRRORS =
  ' The configuration names no mirror now, so only directories of earlier "shelfd sync DIR" are synced; "shelfd mirrors add DIR" adds one.'

async function saveFile(input: EditsInput, opened: OpenedFile, { text, after }: ReturnType<typeof planChange>) {
  rewriteFile(opened.file, text, opened.textBefore)
  input.onChange?.(after)
  const daemonMessage = await reloadDaemon(input.stateDir)
  const isEmpty = after.mirrors.length === 0
  const next = daemonMessage ?? `No daemon runs${isEmpty ? '' : ', so it takes effect with the next sync'}`
  return { message: `Written to ${opened.file}. ${next}.${isEmpty ? WITHOUT_MIRRORS : ''}` }
}

/** Returns the new text of the file and its settings. Throws UsageError if they are unusable or change more than the mirror. */
function planChange(input: EditsInput, opened: OpenedFile, mirror: ConfiguredMirror) {
  const { before, settings } = opened
  const { mirrors } = settings
  // Once the configuration names a mirror, only mirrors that it names stay active, so it must also name those of "sync DIR".
  const unnamed = mirrors.length > 0 ? [] : listEditable(input, settings)
  const wanted = [...unnamed.filter(({ name }) => name !== mirror.name), mirror]
  const text = wanted.reduce((draft, each) => withMirror(draft, mirrors, each), before.text)
  const changed = mirrors.map((each) => (each.name === mirror.name ? mirror : each))
  const added = wanted.filter(({ name }) => !mirrors.some((each) => each.name === name))
  const after = readChanged(input, opened, text, [...changed, ...added])
  chooseForDaemon(after, { storedMirrors: input.storedMirrors(), home: input.home })
  return { text, after }
}

/** Returns the settings that the new text gives; throws UsageError if anything but `mirrors` differs from the present ones. */
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
  const configured = mirrors[index]
  if (configured) return withTexts(source, ['ignore', 'mirrors', index], { before: configured.ignore, after: ignore })
  return withSection(source, 'mirrors', { name, path, library, remotePath, ...(ignore.length > 0 && { ignore }) })
}

async function checkMirror(input: EditsInput, chosen: ChosenMirror, signal: AbortSignal): Promise<CheckedMirror> {
  try {
    const mirror = await chooseMirror(input, chosen, openFile(input))
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

async function chooseMirror(input: EditsInput, chosen: ChosenMirror, opened: OpenedFile): Promise<ConfiguredMirror> {
  const path = chosenPath(chosen, input.home)
  await checkField('path', () => inTime(path, Promise.resolve(boundedFileSystem.answers(path))))
  const mirror = await chooseNewMirror(input, chosen, opened.settings)
  await checkField('path', () => planChange(input, opened, mirror))
  return mirror
}

type RulesPair = Readonly<{ before: ScanRules | null; after: ScanRules }>

async function preview({ stateDir, ownDirectories }: EditsInput, path: string, rules: RulesPair): Promise<RulesEffect> {
  const reader = openStateReader(stateDir)
  try {
    return await inTime(path, reader.read('preview', { path, ...rules, ownDirectories, maxMs: PREVIEW_MS }))
  } finally {
    void reader[Symbol.asyncDispose]()
  }
}

async function inTime<T>(path: string, work: Promise<T>): Promise<T> {
  const timeout = sleep(DISK_ANSWERS_WITHIN_MS, undefined, { ref: false }).then(() => {
    throw new RootError('root-unreadable', `Cannot look through "${path}": its disk does not answer`)
  })
  return Promise.race([work, timeout])
}

/** Returns the libraries that this credential may add to; if the service fails, those listed until then. */
async function listLibraries(service: Service, signal: AbortSignal): Promise<string[]> {
  const names = new Set<string>()
  try {
    const { client, access } = await service.connect(signal)
    for await (const library of client.listLibraries(signal)) {
      if (mayUpload(library, access)) names.add(library.name)
      if (names.size === MAX_LIBRARIES) break
    }
  } catch {
    // The user can still type a name, and `checkMirror` reports what is wrong with the service.
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

/** Runs the check of one field. Throws a FieldError in place of a ShelfdError. */
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
  throw new FieldError('path', 'Give the full path of a directory, such as ~/Papers')
}

/** Returns the mirror that a filled-in form describes, without asking the service; throws FieldError. */
async function chooseNewMirror(input: EditsInput, chosen: ChosenMirror, settings: Settings): Promise<ConfiguredMirror> {
  const path = chosenPath(chosen, input.home)
  await checkField('path', () => assertDirectory(path))
  const real = realPathOf('/', path)
  const same = settings.mirrors.find((mirror) => realPathOf('/', mirror.path) === real)
  if (same) throw new FieldError('path', `The mirror "${same.name}" mirrors this directory already`)
  const breadth = describeRoot(path, input.home)
  if (breadth !== undefined)
    throw new FieldError('path', `"${path}" holds ${breadth}; only "shelfd sync" can mirror it, after a confirmation`)
  const storedMirrors = input.storedMirrors()
  const earlier = listRoster(settings, storedMirrors).find(
    ({ row, configured, activity }) => row?.path === real && !configured && activity !== 'other-service',
  )?.row
  const isAgain =
    ['', earlier?.name].includes(chosen.name.trim()) &&
    ['', earlier?.library.name, earlier?.library.remoteId].includes(chosen.library.trim())
  // The earlier mirror continues, so that its files are not sent again.
  if (earlier && isAgain) return fromState(settings, earlier)
  const reserved = reservedNames(settings, storedMirrors)
  const isTaken = (name: string) => reserved.has(name) || settings.mirrors.some((mirror) => mirror.name === name)
  const name = chosen.name.trim() || freeName(basename(path), isTaken)
  if (isTaken(name)) throw new FieldError('name', `There is a mirror "${name}" already`)
  if (!/^[^/\p{Cc}]+$/u.test(name)) throw new FieldError('name', 'A name must not contain "/" or control characters')
  const library = chosen.library.trim() || (settings.service.kind === 'embedded' ? name : '')
  if (library === '') throw new FieldError('library', 'Choose a library of the service, or name a new one')
  const isInUse = (place: string) =>
    settings.mirrors.some((mirror) => mirror.library === library && mirror.remotePath === place)
  return {
    ...adHocMirror(settings.service, path, { library, remotePath: freeName(`/${basename(path)}`, isInUse) }),
    name,
  }
}

/** Returns whether the library must be created. Throws FieldError if the credential may not add to it, or not create it. */
async function isNewLibrary(service: Service, library: string, signal: AbortSignal): Promise<boolean> {
  const connection = await service.connect(signal)
  const { access } = connection
  const found = await checkField('library', () => findLibrary(connection, library, signal))
  if (found ? mayUpload(found, access) : access.abilities.includes('library.create')) return !found
  const missing = `There is no library "${library}", and the access token may not create one`
  throw new FieldError('library', found ? `The access token may not add to the library "${library}"` : missing)
}
