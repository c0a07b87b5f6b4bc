import { API_PREFIX, ROUTES, type RouteName } from '../../contract/routes.ts'
import { orAbort } from '../../foundation/concurrency/or-abort.ts'
import { AccessError, TemporaryError } from '../../foundation/errors.ts'
import type { Logger } from '../../foundation/logger.ts'
import type { ContractSettings } from '../client-options.ts'
import type { Capabilities } from '../service-client.ts'
import { expectStatus, parseJson } from '../wire/answer-or-refusal.ts'
import type { Send, ServiceRequest, ServiceResponse } from '../wire/request.ts'
import { TransientFailure } from '../wire/transient-failure.ts'
import { detectCreateDirectory, detectCreateLibrary, detectUploadDirectory } from './detect-fields.ts'
import { bodyFieldsOf, describesOperation, MULTIPART_BODY, versionOf } from './openapi.ts'

export type CapabilitiesReader = (signal?: AbortSignal) => Promise<Capabilities>

/** Reads the instance's description on the first call and keeps the result; after a failure the next call retries. */
export function createCapabilitiesReader(send: Send, settings: ContractSettings, logger: Logger): CapabilitiesReader {
  let known: Capabilities | undefined
  let reading: Promise<Capabilities> | undefined
  const read = async () => {
    try {
      known = decideCapabilities(settings, await readDescription(send, logger))
      return known
    } finally {
      reading = undefined
    }
  }
  return async (signal) => {
    if (known) return known
    reading ??= read()
    return orAbort(reading, signal)
  }
}

/** Takes each capability from the configuration, else from the instance's OpenAPI, else from the defaults. */
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
  set: ContractSettings['createDirectory'],
  document: unknown,
): Capabilities['createDirectory'] {
  if (set !== undefined && set !== 'auto') {
    if ('path' in set) return { source: 'configuration', kind: 'path', field: set.path }
    return { source: 'configuration', kind: 'name-and-parent', nameField: set.name, parentField: set.parent }
  }
  const detected = detectCreateDirectory(bodyFieldsOf(document, ROUTES.createDirectory) ?? [])
  return detected ? { source: 'openapi', ...detected } : { source: 'default', kind: 'path', field: 'path' }
}

function createLibraryCapability(
  set: ContractSettings['createLibrary'],
  document: unknown,
): Capabilities['createLibrary'] {
  if (set !== undefined && set !== 'auto') {
    return { source: 'configuration', nameField: set.name, overviewField: set.overview }
  }
  const detected = detectCreateLibrary(bodyFieldsOf(document, ROUTES.createLibrary) ?? [])
  return detected
    ? { source: 'openapi', ...detected }
    : { source: 'default', nameField: 'name', overviewField: 'overview' }
}

function uploadDirectoryCapability(
  set: ContractSettings['uploadDirectoryField'],
  document: unknown,
): Capabilities['uploadDirectoryField'] {
  if (set !== undefined && set !== 'auto') return { source: 'configuration', field: set ?? undefined }
  const fields = bodyFieldsOf(document, ROUTES.uploadFile, MULTIPART_BODY)
  return fields ? { source: 'openapi', field: detectUploadDirectory(fields) } : { source: 'default', field: undefined }
}

/** The OpenAPI document, or undefined if the instance has none; throws only if the service cannot be asked now. */
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
    const noDocument = error instanceof AccessError && error.code === 'redirect-refused'
    const tooLong = error instanceof TemporaryError && error.code === 'answer-malformed'
    if (!noDocument && !tooLong) throw error
    logger.debug('the service publishes no OpenAPI document; the default fields are used', {
      path: API_PREFIX,
      code: error.code,
    })
    return undefined
  }
}

const ASK_AGAIN = [429, 502, 503, 504]

async function documentOf(
  response: ServiceResponse,
  request: ServiceRequest<unknown>,
  logger: Logger,
): Promise<unknown> {
  if (ASK_AGAIN.includes(response.status)) await expectStatus(response, request, [])
  try {
    if (response.status === 200) return await parseJson(response)
  } catch (error) {
    if (!(error instanceof TransientFailure)) throw error
  }
  logger.debug('the service publishes no OpenAPI document; the default fields are used', { status: response.status })
  return undefined
}
