import { sep } from 'node:path'
import { joinPath, nameOf, parentOf } from '../../foundation/files/paths.ts'
import { BUILT_IN_LITTER, BUILT_IN_SECRETS } from './built-in-patterns.ts'
import { bodyOf, type IgnoreDecision, type IgnoreRule, parseIgnoreRule, patternOfPath } from './ignore-rule.ts'
import { isCostly } from './linear-matcher.ts'
import { createSelection, type Selection } from './selection.ts'

export type { IgnoreDecision } from './ignore-rule.ts'

const IGNORE_FILE_NAME = '.shelfdignore'
export const GIT_IGNORE_FILE_NAME = '.gitignore'

/**
 * Decides which entries are ignored. As in git, a deeper `.shelfdignore` outweighs a higher one, and a later line outweighs an earlier one.
 * No rule brings back a path below an ignored directory.
 */
export interface IgnoreScope {
  /** Adds the rules of a directory's ignore files; `readText` returns the text of one, undefined if there is none. */
  enter(relativeDirectory: string, readText: (fileName: string) => string | undefined): IgnoreScope
  /** Returns the decision to ignore a path; undefined if it is not ignored. */
  decide(relativePath: string, isDirectory: boolean): IgnoreDecision | undefined
  /** Like `decide`, for a directory ('' for the root) and a name in it. */
  decideEntry(relativeDirectory: string, name: string, isDirectory: boolean): IgnoreDecision | undefined
  /** Returns whether a rule of the user such as `!server.pem` brings a file back, so that its content is not searched for secrets. */
  bringsBack(relativeDirectory: string, name: string): boolean
}

/**
 * Returns the rules at a mirror's root. The rules of the configuration outweigh the built-in ones, which match against the absolute path,
 * so that `.aws/credentials` is also ignored in a mirror of `.aws`. With `include`, whatever it does not choose is ignored as well. Files of
 * git outweigh nothing, so that they bring no secret back.
 */
export function createRootScope(
  { ignore, include, gitignore = false, credentialFiles = [] }: ChoosingRules,
  root = '',
): IgnoreScope {
  const own = ignore.flatMap((pattern) => rulesOf([{ pattern, source: 'configuration', line: null, secret: false }]))
  const above = root.split(sep).filter(Boolean).join('/')
  const credentials = rulesOf(builtIn(credentialFiles.map(toPattern), true))
  const layers = [
    ...(own.length === 0 ? [] : [createLayer('', own)]),
    ...(credentials.length === 0 ? [] : [{ ...createLayer('', credentials), above }]),
    { ...BUILT_IN, above },
  ]
  return createScope(layers, gitignore ? [] : undefined, include.length === 0 ? undefined : createIncluded(include))
}

interface Included extends Selection {
  readonly decision: IgnoreDecision
}

function createIncluded(patterns: readonly string[]): Included {
  const decision = { pattern: patterns.join(', '), source: 'include', line: null, secret: false }
  return { ...createSelection(patterns), decision }
}

/** Rules of one source; their patterns are relative to the directory `base`. */
interface Layer {
  readonly base: string
  /** A path that is put before each relative path before rules are matched; '' for none. */
  readonly above: string
  readonly rules: readonly IgnoreRule[]
  readonly mayMatch: (name: string) => boolean
}

const BUILT_IN = createLayer('', rulesOf([...builtIn(BUILT_IN_LITTER, false), ...builtIn(BUILT_IN_SECRETS, true)]))

function builtIn(patterns: readonly string[], secret: boolean): IgnoreDecision[] {
  return patterns.map((pattern) => ({ pattern, source: 'built-in', line: null, secret }))
}

function toPattern(file: string): string {
  return patternOfPath(file.split(sep).filter(Boolean).join('/'))
}

function rulesOf(lines: readonly IgnoreDecision[]): IgnoreRule[] {
  return lines.map(parseIgnoreRule).filter((rule) => rule !== undefined)
}

function createLayer(base: string, rules: readonly IgnoreRule[]): Layer {
  return { base, above: '', rules, mayMatch: createNameFilter(rules.map(({ decision }) => decision.pattern)) }
}

/** Layers of higher precedence come first. `gitLayers` are asked last; if undefined, files of git are not read. */
function createScope(
  layers: readonly Layer[],
  gitLayers: readonly Layer[] | undefined,
  included: Included | undefined,
): IgnoreScope {
  const all = gitLayers === undefined || gitLayers.length === 0 ? layers : [...layers, ...gitLayers]
  const ruleFor = (from: readonly Layer[], relativeDirectory: string, name: string, isDirectory: boolean) => {
    for (const layer of from) {
      const rule = layer.mayMatch(name) ? decidingRule(layer, relativeDirectory, name, isDirectory) : undefined
      if (rule) return rule
    }
    return undefined
  }
  const scope: IgnoreScope = {
    enter(relativeDirectory, readText) {
      const own = parseIgnoreFile(relativeDirectory, IGNORE_FILE_NAME, readText)
      const ofGit = gitLayers === undefined ? [] : parseIgnoreFile(relativeDirectory, GIT_IGNORE_FILE_NAME, readText)
      if (own.length + ofGit.length === 0) return scope
      return createScope([...own, ...layers], gitLayers && [...ofGit, ...gitLayers], included)
    },
    decide(relativePath, isDirectory) {
      return scope.decideEntry(parentOf(relativePath), nameOf(relativePath), isDirectory)
    },
    decideEntry(relativeDirectory, name, isDirectory) {
      if (included?.takes(relativeDirectory, name, isDirectory) === false) return included.decision
      const rule = ruleFor(all, relativeDirectory, name, isDirectory)
      return rule?.negative ? undefined : rule?.decision
    },
    bringsBack(relativeDirectory, name) {
      const rule = ruleFor(layers, relativeDirectory, name, false)
      return rule?.negative === true && rule.decision.source !== 'built-in'
    },
  }
  return scope
}

function decidingRule(layer: Layer, directory: string, name: string, isDirectory: boolean): IgnoreRule | undefined {
  const below = layer.base === '' ? directory : directory.slice(layer.base.length + 1)
  const path = joinPath(layer.above, joinPath(below, name)) + (isDirectory ? '/' : '')
  return layer.rules.findLast((rule) => rule.matches(path, name))
}

function parseIgnoreFile(
  directory: string,
  fileName: string,
  readText: (fileName: string) => string | undefined,
): Layer[] {
  const source = joinPath(directory, fileName)
  const lines =
    readText(fileName)
      ?.replace(/^\ufeff/, '')
      .split(/\r?\n/) ?? []
  const rules = rulesOf(lines.map((pattern, index) => ({ pattern, source, line: index + 1, secret: false })))
  return rules.length === 0 ? [] : [createLayer(directory, rules)]
}

/** Returns a quick test that is true for every name that a pattern may match, and perhaps for others. */
function createNameFilter(patterns: readonly string[]): (name: string) => boolean {
  const globs = patterns.map(nameGlobOf)
  if (globs.some((glob) => glob === undefined || /^\*+$/.test(glob) || isCostly(glob))) return () => true
  const nameGlobs = globs.filter((glob) => glob !== undefined)
  const names = new Set(nameGlobs.filter((glob) => !/[*?]/.test(glob)))
  const isEnding = (glob: string) => /^\*\.[^.*?]+$/.test(glob)
  const endings = new Set(nameGlobs.filter(isEnding).map((glob) => glob.slice(1)))
  const wild = nameGlobs.filter((glob) => /[*?]/.test(glob) && !isEnding(glob))
  const isKnown = (name: string) => names.has(name) || endings.has(name.slice(name.lastIndexOf('.')))
  if (wild.length === 0) return isKnown
  const shape = new RegExp(wild.map(toSource).join('|'), 's')
  return (name) => isKnown(name) || shape.test(name)
}

/** Returns the last part of a pattern, with `?` for each bracket; undefined for a pattern with escapes or unusual brackets. */
function nameGlobOf(pattern: string): string | undefined {
  if (pattern.includes('\\')) return undefined
  const glob = bodyOf(pattern)
    .replace(/\/$/, '')
    .replace(/\[[^\][/!^:][^\][/:]*\]/g, '?')
  return glob.includes('[') ? undefined : glob.slice(glob.lastIndexOf('/') + 1)
}

/** Returns the source of a regular expression. For a star at an end it omits the anchor, which is faster than `.*`. */
function toSource(glob: string): string {
  const [, start = '', middle = '', end = ''] = /^(\**)(.*?)((?<!\*)\**)$/s.exec(glob) ?? []
  const source = middle
    .replace(/[.+^${}()|\\/\-#]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.')
  return (start ? '' : '^') + source + (end ? '' : '$')
}

export interface ScanRules {
  readonly ignore: readonly string[]
  /** Patterns of the files to mirror; if there are none, all files are mirrored. */
  readonly include: readonly string[]
  readonly maxSizeBytes: number | null
  readonly oneFileSystem: boolean
  readonly emptyFiles: 'upload' | 'skip'
  /** True if the rules of `.gitignore` files apply as well. */
  readonly gitignore?: boolean
  /** Real paths of the files that hold credentials of shelfd itself. */
  readonly credentialFiles?: readonly string[]
}

type ChoosingRules = Pick<ScanRules, 'ignore' | 'include' | 'gitignore' | 'credentialFiles'>

export function scanRulesOf(rules: ScanRules): ScanRules {
  const { ignore, include, maxSizeBytes, oneFileSystem, emptyFiles, gitignore = false, credentialFiles = [] } = rules
  return { ignore, include, maxSizeBytes, oneFileSystem, emptyFiles, gitignore, credentialFiles }
}
