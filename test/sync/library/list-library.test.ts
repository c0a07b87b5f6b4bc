import { expect, test } from 'vitest'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { type Listing, type ListingBounds, listRemote } from '../../../src/sync/library/list-library.ts'
import { clientOf, serve } from '../../remote/support.ts'

interface Shown {
  readonly folders?: readonly string[]
  readonly files?: readonly string[]
  readonly next?: string
}

interface Seen extends Listing {
  /** The path of each request, in order. */
  readonly asked: readonly string[]
  readonly found: readonly string[]
}

/** Lists a library whose service shows for each path the result of `show`. */
async function listShown(
  show: (path: string, cursor: string | null) => Shown | undefined | Promise<Shown>,
  bounds?: ListingBounds,
): Promise<Seen> {
  const asked: string[] = []
  await using server = await serve(async (request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost')
    const path = searchParams.get('path') ?? '/'
    asked.push(path)
    const shown = await show(path, searchParams.get('cursor'))
    if (!shown) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    const { folders = [], files = [], next = null } = shown
    const page = {
      folders: folders.map((name) => ({ name, overview: null, organization_locked: false, is_archive: false })),
      files: files.map((id) => {
        return { id, title: id, slug: id, filename: `${id}.md`, mime_type: 'text/markdown', organization_locked: false }
      }),
      limit: 500,
      next_cursor: next,
      truncated: next !== null,
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(page))
  })
  await using client = clientOf(server.origin)
  const found: string[] = []
  const target = {
    client,
    libraryId: 1,
    remoteId: 'lib',
    concurrency: 4,
    logger: silentLogger,
    signal: new AbortController().signal,
    add: (entries: readonly { resourceId: string }[]) => {
      for (const { resourceId } of entries) found.push(resourceId)
    },
  }
  return { ...(await listRemote(target, bounds)), asked, found }
}

test('folders that always hold one more end the listing [F-SV-17]', async () => {
  const { asked, incomplete } = await listShown((path) => ({ folders: [path === '/' ? 'Papers' : 'more'] }))
  expect(asked).toHaveLength(257)
  expect(incomplete).toEqual([{ path: '/', reason: expect.stringContaining('256 levels deep') }])
})

test('a folder that holds itself ends the listing [F-SV-17]', async () => {
  const { asked, incomplete, found } = await listShown(() => ({ folders: ['Papers'], files: ['r1'] }))
  expect(asked).toHaveLength(257)
  expect(incomplete).toHaveLength(1)
  expect(new Set(found)).toEqual(new Set(['r1']))
})

test('folders that double at each level end the listing [P21, F-SV-17]', async () => {
  const { asked, incomplete } = await listShown(() => ({ folders: ['a', 'b'] }), { levels: 256, requests: 500 })
  expect(asked.length).toBeLessThanOrEqual(500)
  expect(incomplete).toEqual([{ path: '/', reason: expect.stringContaining('500 requests') }])
})

test('pages that never end count against the whole library [F-SV-17]', async () => {
  let page = 0
  const endless = () => {
    page += 1
    return { files: [`r${page}`], next: `c${page}` }
  }
  const { asked, incomplete } = await listShown(endless, { levels: 256, requests: 200 })
  expect(asked).toHaveLength(200)
  expect(incomplete).toHaveLength(1)
})

test('folders that are all gone count against the bound as well', async () => {
  const folders = Array.from({ length: 300 }, (_, index) => `f${index}`)
  const show = (path: string) => (path === '/' ? { folders } : undefined)
  const { asked, incomplete } = await listShown(show, { levels: 256, requests: 300 })
  expect(asked).toHaveLength(1)
  expect(incomplete).toHaveLength(1)
})

test.each([
  ['that is its own', '.'],
  ['that is the one above', '..'],
  ['of two segments', 'a/b'],
  ['with a zero byte', 'x\0'],
  ['longer than any path', 'n'.repeat(9_000)],
])('a folder with a name %s makes its directory unknown, and no other in it [P11]', async (_, name) => {
  const show = (path: string) =>
    path === '/'
      ? { folders: ['in', 'out'] }
      : path === '/in'
        ? { folders: ['a', name, 'z'] }
        : { files: [path.slice(1)] }
  const { asked, incomplete, found } = await listShown(show)
  expect(asked.toSorted()).toEqual(['/', '/in', '/in/a', '/in/z', '/out'])
  expect(found.toSorted()).toEqual(['in/a', 'in/z', 'out'])
  expect(incomplete).toEqual([{ path: '/in', reason: expect.stringContaining('a name that no path can contain') }])
})

test('a consistent library is complete to its deepest folder [F-SV-17]', async () => {
  const show = (path: string) => {
    const depth = path === '/' ? 0 : path.split('/').length - 1
    return depth < 200 ? { folders: [`level ${depth}`], files: [`r${depth}`] } : { files: [`r${depth}`] }
  }
  const { incomplete, found } = await listShown(show)
  expect(incomplete).toEqual([])
  expect(found).toHaveLength(201)
})

test('a slow directory holds up none below another one', async () => {
  const deepest = Promise.withResolvers<Shown>()
  const { asked, incomplete } = await listShown((path) => {
    if (path === '/') return { folders: ['slow', 'quick'] }
    if (path === '/slow') return deepest.promise
    if (path === '/quick') return { folders: ['deep'] }
    deepest.resolve({})
    return {}
  })
  expect(asked.toSorted()).toEqual(['/', '/quick', '/quick/deep', '/slow'])
  expect(incomplete).toEqual([])
})

test('a directory that fails leaves the others complete [P11]', async () => {
  const show = (path: string) =>
    path === '/' ? { folders: ['gone', 'kept'] } : path === '/gone' ? undefined : { files: ['r1'] }
  const { incomplete, found } = await listShown(show)
  expect(incomplete).toEqual([{ path: '/gone', reason: expect.stringContaining('not found') }])
  expect(found).toEqual(['r1'])
})
