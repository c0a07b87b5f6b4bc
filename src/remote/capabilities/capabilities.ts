import { API_PREFIX, ROUTES, type RouteName } from '../../contract/routes.ts'
import { orAbort } from '../../foundation/concurrency/waits.ts'
import { AccessError, TemporaryError } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { ContractSettings } from '../client-options.ts'
import type { Capabilities } from '../service-client.ts'
import { expectStatus, parseJson } from '../wire/answer-or-refusal.ts'
import type { Send, ServiceRequest, ServiceResponse } from '../wire/request.ts'
import { TransientFailure } from '../wire/transient-failure.ts'
import { type BodyField, bodyFieldsOf, describesOperation, MULTIPART_BODY, versionOf } from './openapi.ts'

export type CapabilitiesReader = (signal?: AbortSignal) => Promise<Capabilities>

/** Returns a function that reads the instance's description once and keeps the result; after a failure the next call reads again. */
export function createCapabilitiesReader(send: Send, settings: ContractSettings, logger: Logger): CapabilitiesReader {
  let decided: Capabilities | undefined
  let reading: Promise<Capabilities> | undefined
  const read = async () => {
    try {
      decided = decideCapabilities(settings, await readDescription(send, logger))
      return decided
    } finally {
      reading = undefined
    }
  }
  return async (signal) => {
    if (decided) return decided
    reading ??= read()
    return orAbort(reading, signal)
  }
}

/** Returns each capability from the configuration, otherwise from the instance's OpenAPI document, otherwise the default. */
export function decideCapabilities(settings: ContractSettings, document: unknown): Capabilities {
  return {
    createDirectory: createDirectoryCapability(settings.createDirectory, document),
    createLibrary: createLibraryCapability(settings.createLibrary, document),
    uploadDirectoryField: uploadDirectoryCapability(settings.uploadDirectoryField, document),
    describedVersion: versionOf(document),
    undescribed: document === undefined ? null : NEEDED.filter((name) => !describesOperation(document, ROUTES[name])),
  }
}

/** The requests that mirroring cannot do without. */
const NEEDED = [
  'checkAccess',
  'listLibraries',
  'listDirectory',
  'createDirectory',
  'uploadFile',
  'showResource',
] as const satisfies readonly RouteName[]

function createDirectoryCapability(
  setting: ContractSettings['createDirectory'],
  document: unknown,
): Capabilities['createDirectory'] {
  if (setting !== undefined && setting !== 'auto') {
    if ('path' in setting) return { source: 'configuration', kind: 'path', field: setting.path }
    return { source: 'configuration', kind: 'name-and-parent', nameField: setting.name, parentField: setting.parent }
  }
  const detected = detectCreateDirectory(bodyFieldsOf(document, ROUTES.createDirectory) ?? [])
  return detected ? { source: 'openapi', ...detected } : { source: 'default', kind: 'path', field: 'path' }
}

function createLibraryCapability(
  setting: ContractSettings['createLibrary'],
  document: unknown,
): Capabilities['createLibrary'] {
  if (setting !== undefined && setting !== 'auto') {
    return { source: 'configuration', nameField: setting.name, overviewField: setting.overview }
  }
  const detected = detectCreateLibrary(bodyFieldsOf(document, ROUTES.createLibrary) ?? [])
  return detected
    ? { source: 'openapi', ...detected }
    : { source: 'default', nameField: 'name', overviewField: 'overview' }
}

function uploadDirectoryCapability(
  setting: ContractSettings['uploadDirectoryField'],
  document: unknown,
): Capabilities['uploadDirectoryField'] {
  if (setting !== undefined && setting !== 'auto') return { source: 'configuration', field: setting ?? undefined }
  const fields = bodyFieldsOf(document, ROUTES.uploadFile, MULTIPART_BODY)
  return fields ? { source: 'openapi', field: detectUploadDirectory(fields) } : { source: 'default', field: undefined }
}

const NO_DOCUMENT = 'the service has no OpenAPI document that can be used; fields not configured have their defaults'

/** Returns the OpenAPI document; undefined if the instance has none that can be used. Throws only if it cannot be requested now. */
async function readDescription(send: Send, logger: Logger): Promise<unknown> {
  try {
    return await send({
      target: { kind: 'description' },
      verb: 'read the OpenAPI document of the service',
      retry: 'always',
      read: (response, request) => documentOf(response, request, logger),
      signal: undefined,
    })
  } catch (error) {
    const hasNone = error instanceof AccessError && error.code === 'redirect-refused'
    const isTooLong = error instanceof TemporaryError && error.code === 'answer-malformed'
    if (!hasNone && !isTooLong) throw error
    logger.debug(NO_DOCUMENT, { path: API_PREFIX, code: error.code })
    return undefined
  }
}

const RETRIED_STATUSES = [429, 502, 503, 504]

async function documentOf(
  response: ServiceResponse,
  request: ServiceRequest<unknown>,
  logger: Logger,
): Promise<unknown> {
  if (RETRIED_STATUSES.includes(response.status)) await expectStatus(response, request, [])
  try {
    if (response.status === 200) return await parseJson(response)
  } catch (error) {
    if (!(error instanceof TransientFailure)) throw error
  }
  logger.debug(NO_DOCUMENT, { status: response.status })
  return undefined
}

type WithoutSource<F> = F extends unknown ? Omit<F, 'source'> : never
type DirectoryBody = WithoutSource<Capabilities['createDirectory']>
type LibraryBody = Omit<Capabilities['createLibrary'], 'source'>

/**
 * Returns the fields of a request body that name the new directory. Instances choose names and descriptions freely; if these are not
 * clear, returns undefined, so that the default applies.
 */
function detectCreateDirectory(fields: readonly BodyField[]): DirectoryBody | undefined {
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

function detectCreateLibrary(fields: readonly BodyField[]): LibraryBody | undefined {
  const texts = fields.filter((field) => field.isText && !isIdentifier(field))
  const pick = (pattern: RegExp) => texts.find((field) => pattern.test(plainName(field)))
  const name = pick(/^(?:library_?)?name$/) ?? pick(/^(?:title|label|display_?name)$/)
  const overview = pick(/^overview$/) ?? pick(/^(?:description|summary|about)$/)
  if (!name || !covers(fields, overview ? [name, overview] : [name])) return undefined
  return { nameField: name.name, overviewField: overview?.name }
}

/** Returns the text field beside `file` that names the directory of an upload; undefined if none clearly does. */
function detectUploadDirectory(fields: readonly BodyField[]): string | undefined {
  const candidates = fields.filter(
    (field) => field.isText && field.name !== 'file' && !isIdentifier(field) && namesDirectory(field),
  )
  return (single(candidates.filter((field) => /path/.test(plainName(field)))) ?? single(candidates))?.name
}

const LOCATION_WORD = /path|director|folder|(?:^|_)dir(?:_|$)|location|destination|target/
const DIRECTORY_WORD = /\b(?:path|director(?:y|ies)|folder)\b/i
const FILE_WORD =
  /\b(?:file ?name|path of the file|file(?:'s)? path|original|on the client|local (?:path|file|director))/i

function isPath(field: BodyField): boolean {
  return LOCATION_WORD.test(plainName(field)) && !/name/.test(plainName(field))
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

/** Returns whether a field names a directory. Words like `target` or `parent` count only if the description mentions a directory. */
function namesDirectory(field: BodyField): boolean {
  const name = plainName(field)
  if (/name|file|source|original|local|client|relative/.test(name) || FILE_WORD.test(field.description)) return false
  if (/path|director|folder|(?:^|_)dir(?:_|$)/.test(name)) return true
  return (LOCATION_WORD.test(name) || isParent(field)) && DIRECTORY_WORD.test(field.description)
}

/** Returns whether a request that sends only the fields `sent` has all required ones. */
function covers(fields: readonly BodyField[], sent: readonly BodyField[]): boolean {
  return fields.every((field) => !field.required || sent.includes(field))
}

function single<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined
}

/** Returns the same name for `parentPath`, `parent-path` and `Parent_Path`. */
function plainName(field: BodyField): string {
  return field.name
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replace(/-/g, '_')
    .toLowerCase()
}
