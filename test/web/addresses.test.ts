import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { addressOf, parseAddress, type Route } from '../../src/web/library/routes.ts'

const text = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
const name = text.filter((each) => !each.includes('/') && each.isWellFormed())
const path = fc.array(name, { maxLength: 4 }).map((names) => `/${names.join('/')}`)
const some = fc.oneof(fc.constant(''), text)

const routes: fc.Arbitrary<Route> = fc.oneof(
  fc.constant<Route>({ view: 'libraries' }),
  fc.record({
    view: fc.constant('directory' as const),
    library: name,
    path,
    page: fc.constant(1),
    cursor: fc.constant(''),
  }),
  fc.record({
    view: fc.constant('directory' as const),
    library: name,
    path,
    page: fc.nat(999).map((page) => page + 2),
    cursor: text,
  }),
  fc.record({
    view: fc.constant('document' as const),
    library: name,
    resource: name,
    position: fc.option(fc.nat(), { nil: undefined }),
    words: fc.array(
      text.filter((each) => each.isWellFormed()),
      { maxLength: 3 },
    ),
  }),
  fc.record({
    view: fc.constant('search' as const),
    query: some,
    library: some,
    directory: some,
    kind: some,
    versions: some,
  }),
)

test('whatever the page shows, its address leads back to it', () => {
  fc.assert(
    fc.property(routes, (route) => {
      expect(parseAddress(addressOf(route))).toEqual(route)
      // As a browser keeps it.
      expect(parseAddress(new URL(addressOf(route), 'http://localhost/').hash)).toEqual(route)
    }),
  )
})

test('an address that names nothing leads to the libraries', () => {
  for (const address of ['', '#', '#/', '#/none', '#%zz', '#/nothing/x?y']) {
    expect([address, parseAddress(address)]).toEqual([address, { view: 'libraries' }])
  }
  expect(parseAddress('#/files/a/%zz//b?page=x')).toEqual({
    view: 'directory',
    library: 'a',
    path: '/%zz/b',
    page: 1,
    cursor: '',
  })
})
