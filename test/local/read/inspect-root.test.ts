import { statfsSync, statSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RootError } from '../../../src/foundation/errors.ts'
import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { inspectRoot } from '../../../src/local/read/inspect-root.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { faulty, systemError, thrownBy } from '../trees.ts'

test('a root has an identity besides its path', () => {
  const directory = temporaryDirectory({ 'real/': '' })
  symlinkSync('real', join(directory, 'link'))
  const keepsBirths = statfsSync(directory).type === 0xef53
  const { dev, ino, birthtimeNs } = statSync(join(directory, 'real'), { bigint: true })
  expect(inspectRoot(nodeFileSystem, join(directory, 'link'))).toEqual({
    realPath: join(directory, 'real'),
    accessPath: join(directory, 'real'),
    device: dev,
    inode: ino,
    birthNs: keepsBirths ? birthtimeNs : null,
    isBirthCertain: false,
    volume: { id: null, sizeBytes: null },
  })
  writeTree(directory, { 'real/a.md': 'A' })
  expect(inspectRoot(nodeFileSystem, join(directory, 'link'))).toMatchObject({
    isBirthCertain: keepsBirths,
  })
})

test('a root that is missing or a file is refused', () => {
  const directory = temporaryDirectory({ file: 'x' })
  const missing = thrownBy(() => inspectRoot(nodeFileSystem, `${directory}/no`))
  expect(missing).toBeInstanceOf(RootError)
  expect(missing).toMatchObject({ code: 'root-missing', message: expect.stringContaining('does not exist') })
  const file = thrownBy(() => inspectRoot(nodeFileSystem, `${directory}/file`))
  expect(file).toMatchObject({ code: 'root-missing', message: expect.stringContaining('not a directory') })
})

test.each(['EACCES', 'EPERM', 'EIO', 'ESTALE'])('a root that fails with %s is unreadable', (code) => {
  const directory = temporaryDirectory()
  const fs = faulty({
    accessSync: () => {
      throw systemError(code)
    },
  })
  expect(thrownBy(() => inspectRoot(fs, directory))).toMatchObject({ code: 'root-unreadable' })
})
