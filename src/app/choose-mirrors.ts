import { basename, dirname, resolve } from 'node:path'
import { normalizeLibraryPath } from '../contract/library-path.ts'
import { UsageError } from '../foundation/errors.ts'
import type { MirrorRow } from '../store/mirrors.ts'
import type { MirrorSettings as EngineMirror } from '../sync/engine.ts'
import { realPathOf } from './real-path.ts'
import type { MirrorSettings, Settings } from './settings/settings.ts'
import { adHocMirror } from './settings/to-settings.ts'

export interface MirrorChoice {
  /** Names of mirrors, or directories. */
  readonly words: readonly string[]
  /** `LIBRARY[:/path]` for directories that no mirror names. */
  readonly to: string | undefined
  readonly cwd: string
  /** Mirrors that the store knows, those that no configuration names among them. */
  readonly known: readonly MirrorRow[]
}

/** The mirrors to sync: all configured ones, or those that the words name; throws UsageError for what is neither. */
export function chooseMirrors(settings: Settings, choice: MirrorChoice): EngineMirror[] {
  const { words, known } = choice
  if (words.length > 0) return words.map((word) => chooseOne(settings, choice, word))
  const configured = settings.mirrors.map((mirror) => toEngineMirror(settings, mirror))
  const all = [...configured, ...known.filter((row) => !isConfigured(settings, row)).map((row) => ofRow(settings, row))]
  if (all.length > 0) return all
  throw new UsageError(
    'bad-usage',
    'Nothing to mirror: name a directory, as in "shelfd sync DIR", or configure mirrors',
  )
}

/** A mirror's settings for one that the store knows: as configured, or by default for an ad hoc one. */
export function settingsOfRow(settings: Settings, row: MirrorRow): EngineMirror {
  const configured = settings.mirrors.find(({ name }) => name === row.name)
  return configured ? toEngineMirror(settings, configured) : ofRow(settings, row)
}

/** Rows of known mirrors that the words name (all without words); throws UsageError `unknown-mirror`. */
export function chooseKnown(known: readonly MirrorRow[], words: readonly string[], cwd: string): MirrorRow[] {
  if (words.length === 0) return [...known]
  return words.map((word) => {
    const row = known.find(({ name }) => name === word) ?? known.find(({ path }) => path === realPathOf(cwd, word))
    if (row) return row
    const names = known.map(({ name }) => name).join(', ') || 'none yet'
    throw new UsageError(
      'unknown-mirror',
      `No mirror is called "${word}" or stands for that directory (known: ${names})`,
    )
  })
}

function chooseOne(settings: Settings, choice: MirrorChoice, word: string): EngineMirror {
  const path = realPathOf(choice.cwd, word)
  const configured =
    settings.mirrors.find(({ name }) => name === word) ??
    settings.mirrors.find((mirror) => realPathOf(choice.cwd, mirror.path) === path)
  if (configured && choice.to === undefined) return toEngineMirror(settings, configured)
  const target = choice.to === undefined ? undefined : parseTarget(choice.to)
  const row =
    choice.known.find(({ name }) => name === word && !target) ??
    choice.known.find((known) => known.path === path && (!target || isTarget(known, target, path)))
  if (row && !isConfigured(settings, row)) return ofRow(settings, row)
  if (settings.service.kind === 'configured' && !target) {
    const text = `Cannot mirror "${word}": no mirror is called so, and a directory needs --to LIBRARY[:/path]`
    throw new UsageError('bad-usage', text)
  }
  return adHoc(settings, choice, path, target)
}

function adHoc(settings: Settings, { known }: MirrorChoice, path: string, target: Target | undefined): EngineMirror {
  const taken = new Set([...settings.mirrors, ...known].map(({ name }) => name))
  const base = basename(path) || 'root'
  let name = base
  for (let count = 2; taken.has(name); count += 1) name = `${base}-${count}`
  const mirror = adHocMirror(path, {
    library: target?.library ?? name,
    ...(target?.path ? { remotePath: target.path } : {}),
  })
  return { ...toEngineMirror(settings, mirror), name, mayCreateLibrary: target === undefined }
}

interface Target {
  readonly library: string
  readonly path: string | undefined
}

/** `LIBRARY` or `LIBRARY:/path`. */
function parseTarget(text: string): Target {
  const match = /^(.+?)(?::(\/.*))?$/s.exec(text)
  const path = match?.[2] === undefined ? undefined : normalizeLibraryPath(match[2])
  if (!match?.[1] || (match[2] !== undefined && path === undefined)) {
    throw new UsageError('bad-usage', `Cannot read --to "${text}": it must be LIBRARY or LIBRARY:/path`)
  }
  return { library: match[1], path }
}

function isTarget({ library, remotePath }: MirrorRow, target: Target, path: string): boolean {
  const isLibrary = library.name === target.library || library.remoteId === target.library
  return isLibrary && remotePath === (target.path ?? `/${basename(path)}`)
}

function isConfigured(settings: Settings, row: MirrorRow): boolean {
  return settings.mirrors.some(({ name }) => name === row.name)
}

function ofRow(settings: Settings, row: MirrorRow): EngineMirror {
  const target = { library: row.library.remoteId, remotePath: row.remotePath }
  return { ...toEngineMirror(settings, adHocMirror(row.path, target)), name: row.name, mayCreateLibrary: false }
}

function toEngineMirror(settings: Settings, mirror: MirrorSettings): EngineMirror {
  const { name, path, library, remotePath, ignore, oneFileSystem, emptyFiles, duplicates } = mirror
  const mayCreateLibrary = settings.service.kind === 'embedded' && library === basename(path)
  const maxSizeBytes = mirror.maxSizeBytes ?? null
  return {
    name,
    path,
    library,
    mayCreateLibrary,
    remotePath,
    ignore,
    maxSizeBytes,
    oneFileSystem,
    emptyFiles,
    duplicates,
  }
}

/** The mirror that holds a local path, and the path relative to it; the innermost when mirrors are nested. */
export function chooseByPath(known: readonly MirrorRow[], word: string, cwd: string): { row: MirrorRow; path: string } {
  const absolute = resolve(cwd, word)
  // The last segment may be a link itself, or gone: only its directory is resolved.
  const path = resolve(realPathOf(cwd, dirname(absolute)), basename(absolute))
  const holding = known
    .filter((row) => path === row.path || path.startsWith(row.path.replace(/\/?$/, '/')))
    .sort((a, b) => b.path.length - a.path.length)
  const [row] = holding
  if (row) return { row, path: path.slice(row.path.length).replace(/^\//, '') }
  const paths = known.map((mirror) => mirror.path).join(', ') || 'none yet'
  throw new UsageError('unknown-mirror', `"${word}" lies in no mirror (known: ${paths})`)
}
