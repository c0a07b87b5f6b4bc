import { z } from 'zod'
import { accessContext, libraryPage, libraryRecord, librarySummary } from '../../contract/records.ts'
import { PAGE_LIMITS, type RouteName } from '../../contract/routes.ts'
import type { CapabilitiesReader } from '../capabilities/capabilities.ts'
import type { ServiceClient } from '../service-client.ts'
import { expectStatus, jsonOf } from '../wire/answer-or-refusal.ts'
import type { Send } from '../wire/request.ts'
import { cannot } from '../wire/transient-failure.ts'
import { pageQuery, pagesOf } from './paging.ts'

type LibraryEndpoints = Pick<ServiceClient, 'listLibraries' | 'createLibrary' | 'showLibrary' | 'deleteLibrary'>

const readPage = jsonOf(libraryPage)
const readLibrary = jsonOf(libraryRecord)
const readCreated = jsonOf(libraryRecord, [201])

export function libraryEndpoints(send: Send, readCapabilities: CapabilitiesReader): LibraryEndpoints {
  return {
    async *listLibraries(signal) {
      const words = { verb: 'list the libraries' }
      const fetchPage = (cursor: string | undefined) =>
        send({ ...words, target: listTarget(cursor), right: 'read', retry: 'always', read: readPage, signal })
      for await (const page of pagesOf(cannot(words, ''), fetchPage)) yield* page.items
    },
    async createLibrary(name, overview, signal) {
      const { nameField, overviewField } = (await readCapabilities(signal)).createLibrary
      const described = overviewField !== undefined && overview !== null ? { [overviewField]: overview } : {}
      return send({
        target: { kind: 'route', route: 'createLibrary' },
        verb: 'create the library',
        subject: name,
        right: 'library.create',
        retry: 'if-without-effect',
        body: { kind: 'json', value: { [nameField]: name, ...described } },
        read: readCreated,
        signal,
      })
    },
    showLibrary: (libraryId, signal) =>
      send({
        target: oneLibrary('showLibrary', libraryId),
        verb: 'show the library',
        subject: libraryId,
        right: 'read',
        retry: 'always',
        read: readLibrary,
        signal,
      }),
    deleteLibrary: (libraryId, signal) =>
      send({
        target: oneLibrary('deleteLibrary', libraryId),
        verb: 'delete the library',
        subject: libraryId,
        right: 'library.delete',
        retry: 'if-without-effect',
        read: (response, request) => expectStatus(response, request, [204]),
        signal,
      }),
  }
}

function listTarget(cursor: string | undefined) {
  return { kind: 'route', route: 'listLibraries', query: pageQuery(PAGE_LIMITS.libraries.max, cursor) } as const
}

function oneLibrary<R extends RouteName>(route: R, library: string) {
  return { kind: 'route', route, values: { library } } as const
}

/** Leaves out libraries that are not as the interface says, so that they stop nobody who uses others; the listing names them. */
const usableLibraries = z
  .array(z.unknown())
  .transform((libraries) => libraries.flatMap((library) => librarySummary.safeParse(library).data ?? []))
const readContext = jsonOf(accessContext.extend({ libraries: usableLibraries }))

export function accessEndpoints(send: Send): Pick<ServiceClient, 'checkAccess'> {
  return {
    checkAccess: (signal) =>
      send({
        target: { kind: 'route', route: 'checkAccess' },
        verb: 'check the access',
        retry: 'always',
        read: readContext,
        signal,
      }),
  }
}
