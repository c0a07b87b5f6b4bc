import { API_PREFIX, ROUTES } from '../contract/routes.ts'
import { InterruptedError, RefusedError, TemporaryError } from '../foundation/errors.ts'
import type { Logger } from '../foundation/logger.ts'
import { expectStatus, parseJson } from './answers.ts'
import type { ContractSettings } from './client-options.ts'
import { Setback } from './failures.ts'
import { judgeCreateDirectory, judgeCreateLibrary, judgeUploadDirectory } from './judge-fields.ts'
import { bodyFieldsOf, MULTIPART_BODY, versionOf } from './openapi.ts'
import type { Answer, Send, ServiceRequest } from './request.ts'
import type { ContractFacts } from './service-client.ts'

export type FactsReader = (signal?: AbortSignal) => Promise<ContractFacts>

/** Reads the instance's description when it is first needed and keeps what it says; an unreachable service is asked again. */
export function createFactsReader(send: Send, settings: ContractSettings, logger: Logger): FactsReader {
  let known: ContractFacts | undefined
  let reading: Promise<ContractFacts> | undefined
  const read = async () => {
    try {
      known = decideFacts(settings, await readDescription(send, logger))
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

/** One caller's abort ends its own waiting, not the reading that others wait for too. */
async function orAbort<T>(shared: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return shared
  const { promise, reject } = Promise.withResolvers<never>()
  const onAbort = () => reject(new InterruptedError())
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  return Promise.race([shared, promise]).finally(() => signal.removeEventListener('abort', onAbort))
}

/** The facts in their order of trust: configuration, then the instance's OpenAPI, then the default. */
export function decideFacts(settings: ContractSettings, document: unknown): ContractFacts {
  return {
    createDirectory: createDirectoryFact(settings.createDirectory, document),
    createLibrary: createLibraryFact(settings.createLibrary, document),
    uploadDirectoryField: uploadDirectoryFact(settings.uploadDirectoryField, document),
    describedVersion: versionOf(document),
  }
}

function createDirectoryFact(
  set: ContractSettings['createDirectory'],
  document: unknown,
): ContractFacts['createDirectory'] {
  if (set !== undefined && set !== 'auto') {
    if ('path' in set) return { source: 'configuration', kind: 'path', field: set.path }
    return { source: 'configuration', kind: 'name-and-parent', nameField: set.name, parentField: set.parent }
  }
  const judged = judgeCreateDirectory(bodyFieldsOf(document, ROUTES.createDirectory) ?? [])
  return judged ? { source: 'openapi', ...judged } : { source: 'default', kind: 'path', field: 'path' }
}

function createLibraryFact(set: ContractSettings['createLibrary'], document: unknown): ContractFacts['createLibrary'] {
  if (set !== undefined && set !== 'auto') {
    return { source: 'configuration', nameField: set.name, overviewField: set.overview }
  }
  const judged = judgeCreateLibrary(bodyFieldsOf(document, ROUTES.createLibrary) ?? [])
  return judged ? { source: 'openapi', ...judged } : { source: 'default', nameField: 'name', overviewField: 'overview' }
}

function uploadDirectoryFact(
  set: ContractSettings['uploadDirectoryField'],
  document: unknown,
): ContractFacts['uploadDirectoryField'] {
  if (set !== undefined && set !== 'auto') return { source: 'configuration', field: set ?? undefined }
  const fields = bodyFieldsOf(document, ROUTES.uploadFile, MULTIPART_BODY)
  return fields ? { source: 'openapi', field: judgeUploadDirectory(fields) } : { source: 'default', field: undefined }
}

/** The OpenAPI document, or undefined when this instance shows none; throws only when the service can't be asked now. */
async function readDescription(send: Send, logger: Logger): Promise<unknown> {
  try {
    return await send({
      target: { kind: 'description' },
      verb: 'read the description of the service',
      repeat: 'always',
      read: (answer, request) => documentOf(answer, request, logger),
      signal: undefined,
    })
  } catch (error) {
    const noDocument = error instanceof RefusedError && error.code === 'redirect-refused'
    const tooLong = error instanceof TemporaryError && error.code === 'answer-malformed'
    if (!noDocument && !tooLong) throw error
    logger.debug('the service shows no description, the defaults hold', { path: API_PREFIX, code: error.code })
    return undefined
  }
}

const ASK_AGAIN = [429, 502, 503, 504]

async function documentOf(answer: Answer, request: ServiceRequest<unknown>, logger: Logger): Promise<unknown> {
  if (ASK_AGAIN.includes(answer.status)) await expectStatus(answer, request, [])
  try {
    if (answer.status === 200) return await parseJson(answer)
  } catch (error) {
    if (!(error instanceof Setback)) throw error
  }
  logger.debug('the service shows no description, the defaults hold', { status: answer.status })
  return undefined
}
