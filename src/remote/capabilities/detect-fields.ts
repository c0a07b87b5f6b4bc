import type { Capabilities } from '../service-client.ts'
import type { BodyField } from './openapi.ts'

/**
 * Detects by name and description what the fields of a body are for. Documents may name fields freely: if that is not
 * clear, a detection returns undefined, and the default applies.
 */
export function detectCreateDirectory(fields: readonly BodyField[]): DirectoryBody | undefined {
  const texts = fields.filter((field) => field.isText && !isIdentifier(field) && !isRemark(field))
  const parent = texts.find(isParent)
  const name = texts.find((field) => /^(?:name|title|(?:directory|folder|dir)_?name)$/.test(plainName(field)))
  const path = single(texts.filter((field) => isPath(field) && field !== parent))
  const pair = name && (parent ?? (path && name.required ? path : undefined))
  if (path && !name?.required && covers(fields, [path])) return { kind: 'path', field: path.name }
  if (pair && covers(fields, [name, pair]))
    return { kind: 'name-and-parent', nameField: name.name, parentField: pair.name }
  const only = single(texts.filter((field) => field.required)) ?? single(texts)
  if (only && !fields.some(isParent) && covers(fields, [only])) return { kind: 'path', field: only.name }
  return undefined
}

export function detectCreateLibrary(fields: readonly BodyField[]): LibraryBody | undefined {
  const texts = fields.filter((field) => field.isText && !isIdentifier(field))
  const pick = (pattern: RegExp) => texts.find((field) => pattern.test(plainName(field)))
  const name = pick(/^(?:library_?)?name$/) ?? pick(/^(?:title|label|display_?name)$/)
  const overview = pick(/^overview$/) ?? pick(/^(?:description|summary|about)$/)
  if (!name || !covers(fields, overview ? [name, overview] : [name])) return undefined
  return { nameField: name.name, overviewField: overview?.name }
}

/** The text field beside `file` that names the directory of an upload, if there is one. */
export function detectUploadDirectory(fields: readonly BodyField[]): string | undefined {
  const candidates = fields.filter(
    (field) => field.isText && field.name !== 'file' && !isIdentifier(field) && namesDirectory(field),
  )
  return (single(candidates.filter((field) => /path/.test(plainName(field)))) ?? single(candidates))?.name
}

type DirectoryCapability = Capabilities['createDirectory']
type WithoutSource<F> = F extends unknown ? Omit<F, 'source'> : never
type DirectoryBody = WithoutSource<DirectoryCapability>
type LibraryBody = Omit<Capabilities['createLibrary'], 'source'>

const PLACE = /path|director|folder|(?:^|_)dir(?:_|$)|location|destination|target/
const DIRECTORY_WORD = /\b(?:path|director(?:y|ies)|folder)\b/i
const FILE_WORD =
  /\b(?:file ?name|path of the file|file(?:'s)? path|original|on the client|local (?:path|file|director))/i

function isPath(field: BodyField): boolean {
  return PLACE.test(plainName(field)) && !/name/.test(plainName(field))
}

function isParent(field: BodyField): boolean {
  return /parent/.test(plainName(field))
}

/** True for `folder_id`, `parentId`, and a field whose description speaks of an identifier. */
function isIdentifier(field: BodyField): boolean {
  return (
    /(?:^|_)(?:uu|ul)?ids?$/.test(plainName(field)) || /\b(?:identifier|uuid|ulid|id) of\b/i.test(field.description)
  )
}

function isRemark(field: BodyField): boolean {
  return /^(?:overview|description|summary|notes?|comment|icon|colou?r)$/.test(plainName(field))
}

/** Words like `target` or `parent` count only when the description speaks of a directory. */
function namesDirectory(field: BodyField): boolean {
  const name = plainName(field)
  if (/name|file|source|original|local|client|relative/.test(name) || FILE_WORD.test(field.description)) return false
  if (/path|director|folder|(?:^|_)dir(?:_|$)/.test(name)) return true
  return (PLACE.test(name) || isParent(field)) && DIRECTORY_WORD.test(field.description)
}

/** Returns whether a request that sends only the fields `sent` has all required ones. */
function covers(fields: readonly BodyField[], sent: readonly BodyField[]): boolean {
  return fields.every((field) => !field.required || sent.includes(field))
}

function single<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined
}

/** Converts `parentPath`, `parent-path` and `Parent_Path` into one name. */
function plainName(field: BodyField): string {
  return field.name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/-/g, '_')
    .toLowerCase()
}
