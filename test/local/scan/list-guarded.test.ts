import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FileError } from '../../../src/foundation/errors.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { listGuarded } from '../../../src/local/scan/list-directory.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { rootAt, startRacer, thrownBy, withoutProc } from '../trees.ts'

function namesIn(fs: FileSystem, root: string, relativePath: string): readonly string[] {
  return listGuarded(fs, { root: rootAt(root), relativePath }).names
}

/** A root with a directory `sub` and a link to a directory outside, whose names must not be listed. */
function makeTrap(path: string): string {
  writeTree(path, { 'root/sub/deep/inside.md': 'x', 'outside/deep/private-name.md': 'x', 'outside/private-plan/': '' })
  const root = join(path, 'root')
  symlinkSync('../outside', join(root, 'link'))
  return root
}

describe.each([
  ['with /proc', nodeFileSystem],
  ['without /proc', withoutProc],
])('guarded listing %s', (_, fs) => {
  test('a listing has the names, from the root down', () => {
    const directory = temporaryDirectory()
    const root = makeTrap(directory)
    expect([namesIn(fs, root, ''), namesIn(fs, root, 'sub/deep')]).toEqual([['link', 'sub'], ['inside.md']])
  })

  test('a parent that leads outside is not listed [F-FS-25]', () => {
    const directory = temporaryDirectory()
    const root = makeTrap(directory)
    const error = thrownBy(() => namesIn(fs, root, 'link/deep'))
    expect(error).toBeInstanceOf(FileError)
    expect(error).toMatchObject({ code: 'outside-root', message: expect.not.stringContaining('private') })
  })

  test('a link at the end of a path is not listed', () => {
    const directory = temporaryDirectory()
    const root = makeTrap(directory)
    expect(thrownBy(() => namesIn(fs, root, 'link'))).toMatchObject({ code: 'ENOTDIR' })
  })

  test('a neighbour with the same prefix is not listed', () => {
    const directory = temporaryDirectory({ 'root/': '', 'root-outside/deep/private-name.md': 'x' })
    const root = join(directory, 'root')
    symlinkSync('../root-outside', join(root, 'sub'))
    expect(thrownBy(() => namesIn(fs, root, 'sub/deep'))).toMatchObject({ code: 'outside-root' })
  })

  test('a refused listing leaves no descriptor open', () => {
    const directory = temporaryDirectory()
    const root = makeTrap(directory)
    let open = 0
    const counting: FileSystem = {
      ...fs,
      openSync: (path, flags) => {
        const descriptor = fs.openSync(path, flags)
        open += 1
        return descriptor
      },
      closeSync: (descriptor) => {
        open -= 1
        fs.closeSync(descriptor)
      },
    }
    thrownBy(() => namesIn(counting, root, 'link/deep'))
    expect(open).toBe(0)
  })
})

test('a racer never gets an outside name listed [P9, F-FS-25]', async () => {
  const directory = temporaryDirectory()
  const root = makeTrap(directory)
  const racer = await startRacer(root)
  const seen = { inside: 0, refused: 0, gone: 0, leaked: 0 }
  for (let tries = 0; tries < 500_000 && seen.leaked === 0 && (seen.inside < 300 || seen.refused < 30); tries += 1) {
    seen[tryToList(root)] += 1
  }
  await racer.terminate()
  expect(seen.leaked).toBe(0)
  expect(seen.inside).toBeGreaterThanOrEqual(300)
  expect(seen.refused).toBeGreaterThanOrEqual(30)
})

function tryToList(root: string): 'inside' | 'refused' | 'gone' | 'leaked' {
  try {
    const names = ['sub', 'sub/deep'].flatMap((path) => namesIn(nodeFileSystem, root, path))
    return names.some((name) => name.startsWith('private')) ? 'leaked' : 'inside'
  } catch (error) {
    return error instanceof FileError ? 'refused' : 'gone'
  }
}
