import { dirname, join } from 'node:path'
import type { CallHandlers, CallInput, CallResponse } from '../contract/dashboard.ts'
import { kindOf } from '../contract/kinds.ts'
import { RequestError } from '../foundation/errors.ts'
import { isoTime } from '../foundation/text/times.ts'
import type { ServiceClient } from '../remote/service-client.ts'
import { searchFiltered } from '../sync/filtered-search.ts'
import type { Hosts } from './hosts.ts'
import type { LiveStream } from './live.ts'
import type { OutageTracker } from './outage-tracker.ts'
import type { Sessions } from './sessions.ts'
import type { DashboardSources } from './sources.ts'
import type { DashboardSyncs } from './syncs.ts'

interface Parts {
  readonly sources: DashboardSources
  readonly sessions: Sessions
  readonly syncs: DashboardSyncs
  readonly live: LiveStream
  readonly outages: OutageTracker
  readonly hosts: Hosts
}

const MAX_HITS = 50
const DOCUMENT_URL_TTL_MINUTES = 10

export function answerCalls({ sources, sessions, syncs, live, outages, hosts }: Parts): CallHandlers {
  const { read } = sources.reader
  const { edits } = sources
  /** Waits for a change, and then has the live stream show its result at once. */
  const thenRefresh = async <T>(change: Promise<T>): Promise<T> => {
    const result = await change
    live.refresh()
    return result
  }
  const withClient = <T>(signal: AbortSignal, ask: (client: ServiceClient) => Promise<T>): Promise<T> =>
    outages.track(sources.service(), async (service) => ask((await service.connect(signal)).client))
  return {
    signIn: async ({ key }) => {
      const token = sessions.redeem(key)
      if (token === undefined) throw new RequestError('request-rejected', KEY_REFUSED, 401)
      return { token }
    },
    pause: async ({ names }) => thenRefresh(sources.pause(names).then(() => ({}))),
    resume: async ({ names }) => thenRefresh(sources.resume(names).then(() => ({}))),
    sync: async ({ names }) => {
      syncs.begin(names.length > 0 ? names : sources.listMirrors().map(({ name }) => name))
      live.refresh()
      return {}
    },
    rows: (input) => read('rows', input),
    tree: (input) => read('tree', input),
    why: async ({ mirror, path }, signal) => ({
      fields: (await outages.track(sources.service(), () => sources.explain(mirror, path, signal))).map(
        ([label, text]) => [label, text],
      ),
    }),
    problems: (input) => read('problems', input),
    retry: async (failures) => ({ count: await thenRefresh(sources.retry(failures)) }),
    retryAll: async (filter) => {
      const contentIds = await read('failed', filter)
      return { count: await thenRefresh(sources.retry({ contentIds, paths: [] })) }
    },
    setAside: async (failures) => ({ count: await thenRefresh(sources.setAside(failures)) }),
    timeline: ({ span }) => read('timeline', { span, nowMs: Date.now() }),
    hosts: (input) => hosts.list(input),
    host: ({ hostId }) => hosts.show(hostId),
    order: async ({ hostId, ...order }) => hosts.order(hostId, order).then(() => ({})),
    settings: async () => sources.settings(),
    log: async () => ({ lines: sources.log?.list() ?? null }),
    search: (input, signal) => withClient(signal, (client) => search(client, sources, input, signal)),
    ...edits,
    saveRules: (input, signal) => thenRefresh(edits.saveRules(input, signal)),
    newMirror: (input, signal) => outages.track(sources.service(), () => edits.newMirror(input, signal)),
    checkMirror: (input, signal) => outages.track(sources.service(), () => edits.checkMirror(input, signal)),
    addMirror: (input, signal) => thenRefresh(outages.track(sources.service(), () => edits.addMirror(input, signal))),
    removeMirror: (input, signal) => thenRefresh(edits.removeMirror(input, signal)),
    openFile: async ({ resourceId, folder }) => {
      const { identity: origin = '' } = sources.service()
      const [sent] = await read('sentResources', { origin, resourceIds: [resourceId] })
      const [file] = sent?.files ?? []
      if (!file) throw new RequestError('invalid', 'No file on this computer has this document any more', 404)
      const path = join(file.root, folder ? dirname(file.path) : file.path)
      return { isOpened: await sources.openPath(path), path }
    },
    openDocument: ({ resourceId }, signal) =>
      withClient(signal, async (client) => {
        const view = { disposition: 'inline', ttlMinutes: DOCUMENT_URL_TTL_MINUTES } as const
        const { url } = await client.createResourceViewUrl(resourceId, view, signal)
        if (new URL(url).origin === client.origin) return { url }
        const todo = 'which the dashboard does not open; "shelfd resource url" prints it'
        throw new RequestError('invalid', `The service gave an address outside of ${client.origin}, ${todo}`, 502)
      }),
  }
}

async function search(
  client: ServiceClient,
  { reader, service }: DashboardSources,
  { query, library, type, directory, allVersions }: CallInput<'search'>,
  signal: AbortSignal,
): Promise<CallResponse<'search'>> {
  const { identity: origin = '' } = service()
  const place = directory === '' ? null : ({ isLocal: false, libraryPath: directory } as const)
  const isType = type === '' ? null : (mime: string) => kindOf(mime) === type
  const { hits, ...found } = await searchFiltered(
    { query, ...(library !== '' && { libraryIds: [library] }) },
    {
      client,
      filter: {
        versions: allVersions ? 'all' : 'current',
        place,
        isType,
        sinceMs: null,
        beforeMs: null,
        order: 'relevance',
      },
      wanted: MAX_HITS,
      findSent: (resourceIds) => reader.read('sentResources', { origin, resourceIds }),
      signal,
    },
  )
  const results = hits.slice(0, MAX_HITS).map(({ resource, facts }) => {
    const { mime, sizeBytes: size, dateMs, version, files, formerFile, earlier } = facts
    const [file = null] = files
    const versions = earlier && { count: earlier.count, newest: isoTime(earlier.newestMs) }
    return { resource, mime, size, date: isoTime(dateMs), version, file, formerFile, earlier: versions }
  })
  return { ...found, results, total: hits.length }
}

const KEY_REFUSED = 'This address was used already or is older than five minutes; run "shelfd dashboard" again'
