import { describe, expect, test } from 'vitest'
import { parseLibraryTarget, requireLibrary } from '../../src/app/library-target.ts'

const LIBRARIES = [
  { id: 'lib_1', name: 'Research', access: ['read'] },
  { id: 'lib_2', name: 'Notes', access: [] },
  { id: 'lib_3', name: 'Notes', access: [] },
  { id: 'Research', name: 'Other', access: [] },
]

const client = {
  async *listLibraries() {
    yield* LIBRARIES
  },
}

const find = (idOrName: string) => requireLibrary(client, idOrName, new AbortController().signal)

describe('finding a library', () => {
  test('a library is found by identifier before name', async () => {
    expect(await find('lib_1')).toMatchObject({ name: 'Research' })
    expect(await find('Research')).toMatchObject({ name: 'Other' })
    expect(await find('Other')).toMatchObject({ id: 'Research' })
  })

  test('an ambiguous library name lists the identifiers', async () => {
    await expect(find('Notes')).rejects.toMatchObject({ code: 'unknown-library' })
    await expect(find('Notes')).rejects.toThrow('2 have that name; use an identifier: lib_2, lib_3')
  })

  test('an unknown library name suggests the nearest', async () => {
    await expect(find('Resarch')).rejects.toMatchObject({ code: 'unknown-library' })
    await expect(find('Resarch')).rejects.toThrow('did you mean "Research"?')
  })
})

test.each([
  ['Research', 'Research', undefined],
  ['Research:', 'Research', undefined],
  ['Research:/', 'Research', '/'],
  ['Research:/a/b/', 'Research', '/a/b'],
  ['a:b:/c', 'a:b', '/c'],
])('the target %s names a library and a path', (text, library, path) => {
  expect(parseLibraryTarget(text)).toEqual({ library, path })
})

test.each([':/a', 'R:/a/../b', 'R:/a//b'])('the target %s is refused', (text) => {
  expect(() => parseLibraryTarget(text)).toThrow('LIBRARY:/path')
})
