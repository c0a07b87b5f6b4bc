import { searchResponse } from '../../contract/records.ts'
import type { SearchRequest, ServiceClient } from '../service-client.ts'
import { identifierOf } from '../wire/addresses.ts'
import { jsonOf } from '../wire/parse-response.ts'
import type { Query, Send } from '../wire/request.ts'

const readHits = jsonOf(searchResponse)

/** Searching resources (4.14). */
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
  ] as const
  return [
    ['query', search.query],
    ...(search.libraryIds ?? []).map((id) => ['library_ids[]', identifierOf(id)] as const),
    ...optional.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const])),
  ]
}
