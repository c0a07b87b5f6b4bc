import { statfsSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RootError } from '../../../src/foundation/errors.ts'
import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { inspectRoot } from '../../../src/local/read/inspect-root.ts'
import { faulty, systemError, temporaryDirectory, thrownBy, writeTree } from '../trees.ts'

test('a root has an identity besides its path', () => {
  using directory = temporaryDirectory()
  writeTree(directory.path, { 'real/': '' })
  symlinkSync('real', join(directory.path, 'link'))
  const keepsBirths = statfsSync(directory.path).type === 0xef53
  const { dev, ino, birthtimeNs } = statSync(join(directory.path, 'real'), { bigint: true })
  expect(inspectRoot(nodeFileSystem, join(directory.path, 'link'))).toEqual({
    realPath: join(directory.path, 'real'),
    accessPath: join(directory.path, 'real'),
    device: dev,
    inode: ino,
    birthNs: keepsBirths ? birthtimeNs : null,
    isBirthCertain: false,
    volume: { id: null, sizeBytes: null },
  })
  writeTree(directory.path, { 'real/a.md': 'A' })
  expect(inspectRoot(nodeFileSystem, join(directory.path, 'link'))).toMatchObject({
    isBirthCertain: keepsBirths,
  })
})

test('a root that is missing or a file is refused', () => {
  using directory = temporaryDirectory()
  writeTree(directory.path, { file: 'x' })
  const missing = thrownBy(() => inspectRoot(nodeFileSystem, `${directory.path}/no`))
  expect(missing).toBeInstanceOf(RootError)
  expect(missing).toMatchObject({ code: 'root-missing', message: expect.stringContaining('does not exist') })
  const file = thrownBy(() => inspectRoot(nodeFileSystem, `${directory.path}/file`))
  expect(file).toMatchObject({ code: 'root-missing', message: expect.stringContaining('not a directory') })
})

test.each(['EACCES', 'EPERM', 'EIO', 'ESTALE'])('a root that fails with %s is unreadable', (code) => {
  using directory = temporaryDirectory()
  const fs = faulty({
    accessSync: () => {
      throw systemError(code)
    },
  })
  expect(thrownBy(() => inspectRoot(fs, directory.path))).toMatchObject({ code: 'root-unreadable' })
})
