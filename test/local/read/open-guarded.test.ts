import { spawnSync } from 'node:child_process'
import { mkdirSync, readSync, statSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FileError } from '../../../src/foundation/errors.ts'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { openGuarded } from '../../../src/local/read/open-guarded.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { faulty, memoryFileSystem, rootAt, startRacer, systemError, thrownBy, withoutProc } from '../trees.ts'

describe.each([
  ['with /proc', nodeFileSystem],
  ['without /proc', withoutProc],
])('guarded opening %s', (_, fs) => {
  test('an opened file has descriptor and fingerprint', () => {
    const directory = temporaryDirectory({ 'a/b.md': 'hello' })
    using file = openGuarded(fs, rootAt(directory), 'a/b.md')
    expect(file.fingerprint.sizeBytes).toBe(5)
    expect(file.fingerprint.inode).toBe(BigInt(statSync(join(directory, 'a/b.md')).ino))
  })

  test('a link at the end of a path is refused [P9]', () => {
    const directory = temporaryDirectory({ 'in/real.md': 'x' })
    symlinkSync('real.md', join(directory, 'in/link.md'))
    expect(codeOf(fs, directory, 'in/link.md')).toBe('unsupported')
  })

  test('a parent that leads outside is refused [P9]', () => {
    const directory = temporaryDirectory({ 'root/': '', 'root-outside/secret.md': 'x' })
    symlinkSync('../root-outside', join(directory, 'root/sub'))
    expect(codeOf(fs, join(directory, 'root'), 'sub/secret.md')).toBe('outside-root')
  })

  test('pipes, sockets and directories never block [P9, F-FS-07]', async () => {
    const directory = temporaryDirectory()
    spawnSync('mkfifo', [join(directory, 'pipe')])
    mkdirSync(join(directory, 'directory'))
    const server = createServer()
    await new Promise<void>((listening) => server.listen(join(directory, 'socket'), listening))
    const codes = ['pipe', 'directory', 'socket'].map((name) => codeOf(fs, directory, name))
    server.close()
    expect(codes).toEqual(['unsupported', 'unsupported', 'unsupported'])
  })

  test('a refusal leaves no descriptor open', () => {
    const directory = temporaryDirectory()
    mkdirSync(join(directory, 'directory'))
    const opened: number[] = []
    const counting: FileSystem = {
      ...fs,
      openSync: (path, flags) => opened[opened.push(fs.openSync(path, flags)) - 1] ?? -1,
      closeSync: (descriptor) => {
        opened.splice(opened.indexOf(descriptor), 1)
        fs.closeSync(descriptor)
      },
    }
    expect(codeOf(counting, directory, 'directory')).toBe('unsupported')
    expect(opened).toEqual([])
  })
})

describe('a file that cannot be opened', () => {
  test.each([
    ['ENOENT', 'vanished'],
    ['ENOTDIR', 'vanished'],
    ['EACCES', 'unreadable'],
    ['EPERM', 'unreadable'],
    ['EIO', 'io-error'],
    ['ESTALE', 'io-error'],
    ['ELOOP', 'unsupported'],
    ['ENXIO', 'unsupported'],
  ])('the system error %s of a file has its own code [F-FS-03]', (systemCode, code) => {
    const error = thrownBy(() => openGuarded(failingOpen(systemCode), rootAt('/root'), 'a\n/b.md'))
    expect(error).toBeInstanceOf(FileError)
    expect(error).toMatchObject({ code, message: expect.stringMatching(/^Cannot read "a\\n\/b\.md": /) })
  })

  test('EMFILE is left to the caller to retry [F-FS-06]', () => {
    expect(thrownBy(() => openGuarded(failingOpen('EMFILE'), rootAt('/root'), 'a'))).toMatchObject({ code: 'EMFILE' })
  })

  test('a file of an in-memory file system opens', () => {
    const fs = memoryFileSystem({ '/m/a.md': 'abc' })
    using file = openGuarded(fs, rootAt('/m', fs), 'a.md')
    expect(file.fingerprint.sizeBytes).toBe(3)
  })
})

test('a racer never gets outside bytes read [P9]', async () => {
  const directory = temporaryDirectory({ 'root/sub/f': 'inside', 'outside/f': 'OUTSIDE' })
  const root = join(directory, 'root')
  symlinkSync('../outside', join(root, 'link'))
  const racer = await startRacer(root)
  const seen = { inside: 0, refused: 0, gone: 0, leaked: 0 }
  const stopAt = performance.now() + 2_000
  while (performance.now() < stopAt) seen[tryToRead(root)] += 1
  await racer.terminate()
  expect(seen.leaked).toBe(0)
  expect(seen.inside).toBeGreaterThan(100)
  expect(seen.refused).toBeGreaterThan(10)
})

function tryToRead(root: string): 'inside' | 'refused' | 'gone' | 'leaked' {
  try {
    using file = openGuarded(nodeFileSystem, rootAt(root), 'sub/f')
    const bytes = Buffer.alloc(7)
    readSync(file.descriptor, bytes)
    return bytes.toString('latin1', 0, 6) === 'inside' ? 'inside' : 'leaked'
  } catch (error) {
    if (!(error instanceof FileError)) throw error
    return error.code === 'outside-root' ? 'refused' : 'gone'
  }
}

function codeOf(fs: FileSystem, root: string, path: string): unknown {
  const error = thrownBy(() => openGuarded(fs, rootAt(root), path))
  return error instanceof FileError ? error.code : error
}

function failingOpen(code: string): FileSystem {
  return faulty({
    openSync: () => {
      throw systemError(code)
    },
  })
}
