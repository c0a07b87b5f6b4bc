import { type ResourceRecord, resourceRecord, searchResponse, type ViewUrl, viewUrl } from '../../contract/records.ts'
import { TemporaryError } from '../../foundation/errors.ts'
import { escapeText, truncateText } from '../../foundation/text/safe-text.ts'
import type { AssetView, SearchRequest, ServiceClient } from '../service-client.ts'
import { identifierOf } from '../wire/addresses.ts'
import { expectStatus, jsonOf, malformed } from '../wire/answer-or-refusal.ts'
import type { Query, Send, ServiceRequest, ServiceResponse } from '../wire/request.ts'
import { cannot } from '../wire/transient-failure.ts'
import { readDownload } from './read-download.ts'

type ResourceEndpoints = Pick<
  ServiceClient,
  'showResource' | 'pollResource' | 'downloadResource' | 'createResourceViewUrl' | 'deleteResource'
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

export function resourceEndpoints(send: Send): ResourceEndpoints {
  return {
    showResource: (library, resource, signal) => send({ ...showing(library, resource), retry: 'always', signal }),
    pollResource: (library, resource, signal) =>
      send({ ...showing(library, resource), retry: 'if-without-effect', signal }),
    downloadResource: (resource, signal) =>
      send({
        target: { kind: 'route', route: 'downloadResource', values: { resource } },
        verb: 'download the resource',
        subject: resource,
        right: 'read',
        retry: 'always',
        streamed: true,
        read: readDownload,
        signal,
      }),
    createResourceViewUrl: (resource, view, signal) =>
      send({
        target: { kind: 'route', route: 'createResourceViewUrl', values: { resource } },
        verb: 'get a view URL of the resource',
        subject: resource,
        right: 'read',
        retry: 'always',
        body: { kind: 'json', value: viewBody(view) },
        read: readViewUrl,
        signal,
      }),
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

function showing(library: string, resource: string) {
  return {
    target: { kind: 'route', route: 'showResource', values: { library, resource } },
    verb: 'show the resource',
    subject: resource,
    right: 'read',
    read: readResourceOf(resource),
  } as const
}

/** The body of a view-URL request; the service has defaults for what is undefined. */
export function viewBody(view: AssetView): object {
  return {
    representation: view.representation,
    timestamp_seconds: view.timestampSeconds,
    ttl_minutes: view.ttlMinutes,
    disposition: view.disposition,
  }
}

const readUrl = jsonOf(viewUrl)

/** Reads a view URL: an address of http or https, which may be relative to the service; throws TemporaryError for any other. */
export async function readViewUrl(response: ServiceResponse, request: ServiceRequest<unknown>): Promise<ViewUrl> {
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
        target: { kind: 'route', route: 'searchResources', query: searchQuery(search) },
        verb: 'search for',
        subject: search.query,
        right: 'read',
        retry: 'always',
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
