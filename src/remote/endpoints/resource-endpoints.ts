import { type ResourceRecord, resourceRecord, searchResponse, type ViewUrl, viewUrl } from '../../contract/records.ts'
import { TemporaryError } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { AssetView, SearchRequest, ServiceClient } from '../service-client.ts'
import { identifierOf } from '../wire/addresses.ts'
import { expectStatus, jsonOf, malformed } from '../wire/answer-or-refusal.ts'
import type { Query, Send, ServiceRequest, ServiceResponse, Target } from '../wire/request.ts'
import { cannot } from '../wire/transient-failure.ts'
import { readDownload } from './read-download.ts'

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

const readResource = jsonOf(resourceRecord)

/** Throws if the answer is about another resource than `id`. */
function readResourceOf(
  id: string,
): (response: ServiceResponse, request: ServiceRequest<unknown>) => Promise<ResourceRecord> {
  return async (response, request) => {
    const record = await readResource(response, request)
    if (record.id !== id) throw malformed('the answer describes another resource')
    return record
  }
}

/** The endpoints of resources, and of the assets inside them. */
export function resourceEndpoints(send: Send): ResourceEndpoints {
  const download = (what: string, id: string, target: Target, signal: AbortSignal | undefined) =>
    send({ ...reading(`download the ${what}`, id), target, streamed: true, read: readDownload, signal })
  const createViewUrl = (what: string, id: string, target: Target, view: AssetView, signal: AbortSignal | undefined) =>
    send({ ...reading(`get a view URL of the ${what}`, id), target, body: viewBody(view), read: readViewUrl, signal })
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

/** The body of a view-URL request; the service has defaults for what is undefined. */
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
    const reason = `the service gave an address that is not one of http or https: ${truncateText(view.url, 200)}`
    throw new TemporaryError('answer-malformed', cannot(request, escapeText(reason)))
  }
  // An absolute one is used unchanged: it is signed.
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
