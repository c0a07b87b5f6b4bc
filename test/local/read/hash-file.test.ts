import { createHash } from 'node:crypto'
import { appendFileSync, renameSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { openGuarded } from '../../../src/local/read/open-guarded.ts'

import { hashGuarded } from '../../../src/local/read/read-verified.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'
import { faulty, rootAt, systemError, thrownBy } from '../trees.ts'

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest()

test('a file of any size has the hash of its whole content', () => {
  const directory = temporaryDirectory()
  const property = fc.property(fc.uint8Array({ maxLength: 70 }), (bytes) => {
    writeTree(directory, { f: bytes })
    using file = openGuarded(nodeFileSystem, rootAt(directory), 'f')
    const result = hashGuarded(nodeFileSystem, file, { scratch: new Uint8Array(16) })
    expect(result.sizeBytes).toBe(bytes.length)
    expect(Buffer.from(result.sha256)).toEqual(sha256(bytes))
  })
  fc.assert(property, { numRuns: 100 })
})

test('short reads do not change the hash', () => {
  const directory = temporaryDirectory()
  const bytes = Buffer.from('0123456789'.repeat(20))
  writeTree(directory, { f: bytes })
  const slow = faulty({
    readSync: (descriptor, into, offset, length, position) =>
      nodeFileSystem.readSync(descriptor, into, offset, Math.min(length, 7), position),
  })
  using file = openGuarded(slow, rootAt(directory), 'f')
  expect(Buffer.from(hashGuarded(slow, file, { scratch: new Uint8Array(64) }).sha256)).toEqual(sha256(bytes))
})

test.each<[string, (path: string) => void]>([
  ['appends', (path) => appendFileSync(path, 'more')],
  ['truncates', (path) => truncateSync(path, 3)],
  ['rewrites', (path) => writeFileSync(path, 'X'.repeat(100))],
])('a file is busy when a writer %s while it is hashed [F-FS-01]', (_, write) => {
  const directory = temporaryDirectory({ f: 'x'.repeat(100) })
  const path = join(directory, 'f')
  const fs = afterFirstRead(() => write(path))
  using file = openGuarded(fs, rootAt(directory), 'f')
  expect(thrownBy(() => hashGuarded(fs, file, { scratch: new Uint8Array(64) }))).toMatchObject({ code: 'busy' })
})

test('a file renamed over while it is hashed is busy [F-FS-01]', () => {
  const directory = temporaryDirectory({ f: 'x'.repeat(100), g: 'y'.repeat(100) })
  const fs = afterFirstRead(() => renameSync(join(directory, 'g'), join(directory, 'f')))
  using file = openGuarded(fs, rootAt(directory), 'f')
  expect(thrownBy(() => hashGuarded(fs, file, { scratch: new Uint8Array(64) }))).toMatchObject({ code: 'busy' })
})

test('a failing disk is an input error [F-FS-05]', () => {
  const directory = temporaryDirectory({ f: 'x' })
  const fs = faulty({
    readSync: () => {
      throw systemError('EIO')
    },
  })
  using file = openGuarded(fs, rootAt(directory), 'f')
  expect(thrownBy(() => hashGuarded(fs, file, { scratch: new Uint8Array(64) }))).toMatchObject({ code: 'io-error' })
})

function afterFirstRead(act: () => void): FileSystem {
  let isDone = false
  return faulty({
    readSync: (descriptor, into, offset, length, position) => {
      const got = nodeFileSystem.readSync(descriptor, into, offset, length, position)
      if (!isDone) act()
      isDone = true
      return got
    },
  })
}
