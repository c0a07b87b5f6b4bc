import {
  type ResourceRecord,
  resourceRecord,
  searchResponse,
  uploadResponse,
  type ViewUrl,
  viewUrl,
} from '../../contract/records.ts'
import { TemporaryError } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { CapabilitiesReader } from '../capabilities/capabilities.ts'
import type { AssetView, Download, SearchRequest, ServiceClient } from '../service-client.ts'
import { identifierOf, libraryPathOf } from '../wire/addresses.ts'
import { expectStatus, jsonOf, malformed } from '../wire/answer-or-refusal.ts'
import {
  type FileBody,
  headerOf,
  type Query,
  type Send,
  type ServiceRequest,
  type ServiceResponse,
  type Target,
} from '../wire/request.ts'
import { cannot, finalError, TransientFailure } from '../wire/transient-failure.ts'

const readUploaded = jsonOf(uploadResponse, [201, 200])

/** Returns the endpoint of uploads, which are retried only if the service cannot have stored the file. */
export function uploadEndpoints(send: Send, readCapabilities: CapabilitiesReader): Pick<ServiceClient, 'uploadFile'> {
  return {
    async uploadFile(upload, signal) {
      const { libraryId, fileName, mime, sizeBytes, openBody, fence } = upload
      const directoryPath = libraryPathOf(upload.directoryPath)
      const { field } = (await readCapabilities(signal)).uploadDirectoryField
      const fields: FileBody['fields'] = field === undefined ? [] : [[field, directoryPath]]
      return send({
        target: { kind: 'route', route: 'uploadFile', values: { library: libraryId } },
        verb: 'upload',
        subject: fileName,
        right: 'resource.create',
        retry: 'if-without-effect',
        body: { kind: 'file', fileName, mime, sizeBytes, fields, open: openBody, fence },
        read: readUploaded,
        signal,
      })
    },
  }
}

type ResourceEndpoints = Pick<
  ServiceClient,
  | 'showResource'
  | 'pollResource'
  | 'downloadResource'
  | 'createResourceViewUrl'
  | 'deleteResource'
  | 'downloadAsset'
  | 'downloadRepresentation'
  | 'createAssetViewUrl'
>

export function resourceEndpoints(send: Send): ResourceEndpoints {
  const download = (kind: string, id: string, target: Target, signal: AbortSignal | undefined) =>
    send({ ...reading(`download the ${kind}`, id), target, streamed: true, read: readDownload, signal })
  const createViewUrl = (kind: string, id: string, target: Target, view: AssetView, signal: AbortSignal | undefined) =>
    send({ ...reading(`get a view URL of the ${kind}`, id), target, body: viewBody(view), read: readViewUrl, signal })
  return {
    showResource: (library, resource, signal) => send({ ...showing(library, resource), signal }),
    pollResource: (library, resource, signal) =>
      send({ ...showing(library, resource), retry: 'if-without-effect', signal }),
    downloadResource: (resource, signal) =>
      download('resource', resource, { kind: 'route', route: 'downloadResource', values: { resource } }, signal),
    createResourceViewUrl: (resource, view, signal) => {
      const target = { kind: 'route', route: 'createResourceViewUrl', values: { resource } } as const
      return createViewUrl('resource', resource, target, view, signal)
    },
    downloadAsset: (asset, signal) =>
      download('asset', asset, { kind: 'route', route: 'downloadAsset', values: { asset } }, signal),
    downloadRepresentation: (asset, representation, timestampSeconds, signal) => {
      const route = representation === 'scene' ? 'downloadScene' : 'downloadFrame'
      const query = [['timestamp_seconds', String(timestampSeconds)]] as const
      return download('asset', asset, { kind: 'route', route, values: { asset }, query }, signal)
    },
    createAssetViewUrl: (asset, view, signal) => {
      const target = { kind: 'route', route: 'createAssetViewUrl', values: { asset } } as const
      return createViewUrl('asset', asset, target, view, signal)
    },
    deleteResource: (library, resource, signal) =>
      send({
        target: { kind: 'route', route: 'deleteResource', values: { library, resource } },
        verb: 'delete the resource',
        subject: resource,
        right: 'resource.delete',
        retry: 'always',
        read: (response, request) => expectStatus(response, request, [204]),
        signal,
      }),
  }
}

function reading(verb: string, subject: string) {
  return { verb, subject, right: 'read', retry: 'always' } as const
}

function showing(library: string, resource: string) {
  return {
    ...reading('show the resource', resource),
    target: { kind: 'route', route: 'showResource', values: { library, resource } },
    read: readResourceOf(resource),
  } as const
}

const readResource = jsonOf(resourceRecord)

/** Returns a reader of resources that throws if the answer describes another one than `id`. */
function readResourceOf(
  id: string,
): (response: ServiceResponse, request: ServiceRequest<unknown>) => Promise<ResourceRecord> {
  return async (response, request) => {
    const record = await readResource(response, request)
    if (record.id !== id) throw malformed('the answer describes another resource')
    return record
  }
}

/** Returns a 200 as a stream of the original bytes; if the stream breaks, it throws the final error of the request. */
async function readDownload(response: ServiceResponse, request: ServiceRequest<unknown>): Promise<Download> {
  await expectStatus(response, request, [200])
  const encoding = headerOf(response, 'content-encoding')
  if (encoding !== undefined && encoding !== 'identity') {
    response.stream?.destroy()
    throw new TemporaryError('answer-malformed', cannot(request, 'the answer has a compression that was not requested'))
  }
  const length = headerOf(response, 'content-length')
  return {
    sizeBytes: length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined,
    mime: headerOf(response, 'content-type'),
    fileName: fileNameOf(headerOf(response, 'content-disposition')),
    body: chunksOf(response.stream ?? [response.body], request, response.origin),
  }
}

async function* chunksOf(
  stream: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  request: ServiceRequest<unknown>,
  origin: string,
): AsyncGenerator<Uint8Array> {
  try {
    yield* stream
  } catch (error) {
    throw error instanceof TransientFailure ? finalError(request, error.details, { tries: 1, origin }) : error
  }
}

/** Returns the name in a `Content-Disposition`, `filename*` first (RFC 6266). The service chose it: never use it as a local path. */
function fileNameOf(disposition: string | undefined): string | undefined {
  if (disposition === undefined) return undefined
  const extended = /filename\*\s*=\s*UTF-8''([^;\s]+)/i.exec(disposition)?.[1]
  const decoded = extended === undefined ? undefined : decode(extended)
  if (decoded !== undefined) return decoded
  const plain = /filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition)
  return plain?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[2]
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

/** Returns the body of a request for a view URL; the service has defaults for fields that are undefined. */
function viewBody({ representation, timestampSeconds, ttlMinutes, disposition }: AssetView) {
  const value = { representation, timestamp_seconds: timestampSeconds, ttl_minutes: ttlMinutes, disposition }
  return { kind: 'json', value } as const
}

const readUrl = jsonOf(viewUrl)

/** Reads a view URL: an address of http or https, which may be relative to the service; throws TemporaryError for any other. */
async function readViewUrl(response: ServiceResponse, request: ServiceRequest<unknown>): Promise<ViewUrl> {
  const view = await readUrl(response, request)
  const url = /[\s\p{C}]/u.test(view.url) ? null : URL.parse(view.url, response.origin)
  if (!url || !['http:', 'https:'].includes(url.protocol)) {
    const reason = `the service returned an address that is neither http nor https: ${truncateText(view.url, 200)}`
    throw new TemporaryError('answer-malformed', cannot(request, escapeText(reason)))
  }
  // An absolute address is used unchanged, since it is signed.
  return URL.canParse(view.url) ? view : { ...view, url: url.href }
}

const readHits = jsonOf(searchResponse)

export function searchEndpoints(send: Send): Pick<ServiceClient, 'searchResources'> {
  return {
    searchResources: async (search, signal) =>
      send({
        ...reading('search for', search.query),
        target: { kind: 'route', route: 'searchResources', query: searchQuery(search) },
        read: readHits,
        signal,
      }),
  }
}

function searchQuery(search: SearchRequest): Query {
  const optional = [
    ['strategy', search.strategy],
    ['limit', search.limit?.toString()],
    ['output_format', search.outputFormat],
    ['versions', search.versions],
  ] as const
  return [
    ['query', search.query],
    ...(search.libraryIds ?? []).map((id) => ['library_ids[]', identifierOf(id)] as const),
    ...optional.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  ]
}

/** Returns the endpoint that sends any request below `/api`, as the user wrote it; every answer except a redirect is a result. */
export function rawEndpoints(send: Send): Pick<ServiceClient, 'callRaw'> {
  return {
    callRaw: (method, path, json, signal) =>
      send({
        target: { kind: 'raw', method, path },
        verb: `call ${method.toUpperCase()}`,
        subject: path,
        retry: 'if-without-effect',
        ...(json === undefined ? {} : { body: { kind: 'json', value: json } as const }),
        read: (response) => ({ status: response.status, headers: plainHeaders(response.headers), body: response.body }),
        signal,
      }),
  }
}

function plainHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Record<string, string> {
  const entries = Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')])
  return Object.fromEntries(entries)
}
