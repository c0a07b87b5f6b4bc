import { z } from 'zod'
import { truncateText } from '../../foundation/text/safe-text.ts'
import { didYouMean } from '../did-you-mean.ts'
import { isMapping, type Raw, valueAt } from './raw-settings.ts'
import { configSchema } from './schema.ts'
import type { ConfiguredMirror, Settings } from './settings.ts'

type Path = readonly PropertyKey[]

/** Returns one line for each problem: location, key, and what was expected. */
export function describeProblems(
  issues: readonly z.core.$ZodIssue[],
  raw: Raw,
  locationOf: (path: Path) => string,
): string[] {
  return issues.flatMap((issue) => {
    if (issue.code !== 'unrecognized_keys') return [describeValue(issue, raw, locationOf(issue.path))]
    return issue.keys.map((key) => `${locationOf([...issue.path, key])}: ${describeUnknownKey(issue.path, key)}`)
  })
}

function formatPath(path: Path): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    return text === '' ? String(step) : `${text}.${String(step)}`
  }, '')
}

/** Describes a wrong value, named by its flag or variable, otherwise by its location and key. */
function describeValue(issue: z.core.$ZodIssue, raw: Raw, location: string): string {
  const value = valueAt(raw, issue.path)
  const expected = isSection(issue) ? 'keys and values' : issue.message
  const key = `"${formatPath(issue.path)}"`
  if (value === undefined) return `${location}: ${key} is missing: ${expected}`
  const name = isOverride(location) ? location : `${location}: ${key}`
  return `${name} must be ${expected}${describeGiven(issue.path, value)}`
}

function isOverride(location: string): boolean {
  return beginsWithFlag(location) || location.startsWith('SHELFD_')
}

export function beginsWithFlag(text: string): boolean {
  return text.startsWith('--')
}

function isSection(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && issue.expected === 'object'
}

/** Sections whose values may be credentials or secret addresses. */
const SECRET_SECTIONS: ReadonlySet<PropertyKey | undefined> = new Set(['service', 'notify', 'fleet'])
const HAS_USER = /:\/\/.*@/s

/** Returns `, not VALUE`, or an empty text if the value may be a secret. */
function describeGiven(path: Path, value: unknown): string {
  if (SECRET_SECTIONS.has(path[0]) || typeof value === 'object' || HAS_USER.test(String(value))) return ''
  return `, not ${truncateText(typeof value === 'number' ? String(value) : JSON.stringify(value), 60)}`
}

export function describeIfUnknown(path: Path, key: string): string | undefined {
  return knownKeys(path).includes(key) ? undefined : describeUnknownKey(path, key)
}

/** Removed keys by section, and what to do instead. */
const REMOVED_KEYS: Readonly<Record<string, string>> = {
  'mirrors.duplicates': 'a content is sent once, however many files have it',
  'notify.webhooks.format': 'webhooks get JSON; docs/notifications.md has commands for Slack, ntfy and healthchecks.io',
  'notify.email': 'docs/notifications.md has a command for notify.command that sends mail',
}

function describeUnknownKey(path: Path, key: string): string {
  const where = path.length === 0 ? '' : ` in "${formatPath(path)}"`
  const instead = REMOVED_KEYS[[...path.filter((step) => typeof step === 'string'), key].join('.')]
  if (instead !== undefined) return `the key "${key}"${where} is gone, remove it: ${instead}`
  const known = knownKeys(path)
  return `unknown key "${key}"${where}${didYouMean(key, known) || `; known keys: ${known.join(', ')}`}`
}

function knownKeys(path: Path): string[] {
  let schema: unknown = z.toJSONSchema(configSchema, { io: 'input' })
  for (const step of path) {
    schema = typeof step === 'number' ? valueAt(schema, ['items']) : valueAt(schema, ['properties', step])
  }
  const properties = valueAt(schema, ['properties'])
  return isMapping(properties) ? Object.keys(properties) : []
}

/** Returns mirrors without a library, and conflicts of two mirrors, which are reported at the later one. */
export function findMirrorProblems(settings: Settings, hasLibrary: (index: number) => boolean) {
  return settings.mirrors.flatMap((mirror, index) => {
    const earlier = settings.mirrors.slice(0, index)
    const problem = (key: string, message: string) => [{ path: ['mirrors', index, key], message }]
    const sameName = earlier.find((other) => other.name === mirror.name)
    if (sameName) return problem('name', `two mirrors are named "${mirror.name}"`)
    const sameDirectory = earlier.find((other) => other.path === mirror.path)
    if (sameDirectory) {
      const both = `the mirrors "${sameDirectory.name}" and "${mirror.name}"`
      return problem('path', `${both} mirror the same directory ("${mirror.path}"), which would be sent twice`)
    }
    if (settings.service.kind === 'configured' && !hasLibrary(index)) {
      return problem(
        'library',
        `"mirrors[${index}].library" is missing: with a configured service, give the identifier or name of the library`,
      )
    }
    const overlapping = earlier.find((other) => overlaps(other, mirror))
    if (!overlapping) return []
    const both = `"${overlapping.name}" and "${mirror.name}"`
    const shared = isWithin(mirror.remotePath, overlapping.remotePath) ? mirror.remotePath : overlapping.remotePath
    return problem('remotePath', `the mirrors ${both} share "${shared}" of the library "${mirror.library}"`)
  })
}

function overlaps(left: ConfiguredMirror, right: ConfiguredMirror): boolean {
  if (left.library !== right.library) return false
  return isWithin(left.remotePath, right.remotePath) || isWithin(right.remotePath, left.remotePath)
}

function isWithin(path: string, parent: string): boolean {
  return path === parent || path.startsWith(parent === '/' ? '/' : `${parent}/`)
}
