import { renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { type FileSystem, nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { dumpStore } from '../../support/dump-store.ts'
import { accountOf, mirrorOf, startEngine } from '../../support/engine.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** The real file system, in which the first lstat of `path` turns its parent into a link to `outside`. */
function swappingAfterLook(path: string, parent: string, outside: string): FileSystem {
  let isSwapped = false
  const lstatSync: FileSystem['lstatSync'] = (asked, options) => {
    const stats = nodeFileSystem.lstatSync(asked, options)
    if (asked === path && !isSwapped) {
      isSwapped = true
      renameSync(parent, `${outside}-former`)
      symlinkSync(outside, parent)
    }
    return stats
  }
  return { ...nodeFileSystem, lstatSync }
}

test('no name from outside a mirror is recorded or made [P9, F-FS-25]', async () => {
  const place = temporaryDirectory()
  const root = writeTree(join(place, 'root'), { 'a.md': 'a', 'sub/deep/b.md': 'b' })
  writeTree(join(place, 'outside'), { 'deep/private-plan/private.md': 'x', 'deep/private-notes/': '' })
  const fs = swappingAfterLook(join(root, 'sub/deep'), join(root, 'sub'), join(place, 'outside'))
  const { service, tested } = await startEngine({}, { fs })
  const account = accountOf(await tested.sync([mirrorOf(root)]))
  expect(account.problems).toEqual([expect.objectContaining({ path: 'sub/deep', code: 'outside-root' })])
  expect(account.uploads.created).toBe(1)
  expect(inspect(dumpStore(tested.stateDir), { depth: 9 })).not.toContain('private')
  for (const { body, path } of service.requests) expect(`${path} ${body}`).not.toContain('private')
})
