import { expect, it } from 'vitest'
import { pagesOf } from '../../../src/remote/endpoints/library-endpoints.ts'
import { collect, thrownBy } from '../support.ts'

interface TestPage {
  readonly n: number
  readonly next_cursor: string | null
  readonly truncated: boolean
}

function page(n: number, next: string | null, truncated = next !== null): TestPage {
  return { n, next_cursor: next, truncated }
}

function listing(pages: Readonly<Record<string, TestPage>>) {
  return async (cursor: string | undefined) => pages[cursor ?? 'first'] ?? page(-1, null)
}

it('each cursor is sent back unchanged', async () => {
  const odd = 'a/b?c=d&é%20 '
  const asked: (string | undefined)[] = []
  const pages = pagesOf({ verb: 'list' }, async (cursor) => {
    asked.push(cursor)
    return cursor === undefined ? page(1, odd) : page(2, null)
  })
  expect((await collect(pages)).map(({ n }) => n)).toEqual([1, 2])
  expect(asked).toEqual([undefined, odd])
})

it.each([
  ['a repeated cursor', listing({ first: page(1, 'a'), a: page(2, 'b'), b: page(3, 'a') })],
  ['a cursor that names its own page', listing({ first: page(1, 'a'), a: page(2, 'a') })],
  ['a truncated page without cursor', listing({ first: page(1, null, true) })],
  ['a cursor on a page that is whole', listing({ first: page(1, 'a', false) })],
])('a listing with %s is refused as incomplete [F-SV-17]', async (_, fetchPage) => {
  expect(await thrownBy(pagesOf({ verb: 'list' }, fetchPage))).toMatchObject({
    kind: 'temporary',
    code: 'answer-malformed',
  })
})

it('a listing that never ends is ended [P21, F-SV-17]', async () => {
  let n = 0
  const endless = async () => {
    n += 1
    return page(n, `cursor-${n}`)
  }
  expect(await thrownBy(pagesOf({ verb: 'list' }, endless, 1_000))).toMatchObject({ code: 'answer-malformed' })
  expect(n).toBe(1_000)
})

it('a hundred thousand consistent pages are read [P21]', async () => {
  let n = 0
  const pages = pagesOf({ verb: 'list' }, async () => {
    n += 1
    return page(n, n < 100_000 ? `c${n}` : null)
  })
  let last = 0
  for await (const { n: seen } of pages) last = seen
  expect(last).toBe(100_000)
})

it('a repeated cursor is recognised however long it is', async () => {
  const long = 'x'.repeat(100_000)
  const pages = pagesOf({ verb: 'list' }, async (cursor) => page(1, cursor === `${long}1` ? `${long}2` : `${long}1`))
  expect(await thrownBy(pages)).toMatchObject({
    code: 'answer-malformed',
    message: expect.stringContaining('sent a cursor twice'),
  })
})
