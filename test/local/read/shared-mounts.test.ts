import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { findShared, parseMounts } from '../../../src/local/read/bounded-file-system.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

test('mounts that a server answers for are told from the others', () => {
  const mountinfo = [
    '22 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw',
    '23 22 0:20 / /proc rw - proc proc rw',
    '30 22 0:40 / /mnt/my\\040files rw,relatime shared:5 master:1 - nfs4 server:/export rw,vers=4.2',
    '31 22 0:41 / /home/ann/drive rw - fuse.rclone remote: rw',
    '32 22 0:42 / /mnt/auto rw - autofs systemd-1 rw',
    '33 22 0:43 / /mnt/old rw - cifs //server/old rw',
    '34 33 8:2 / /mnt/old rw - ext4 /dev/sdb1 rw',
    '35 32 0:44 / /mnt/auto rw - nfs server:/auto rw',
    '',
  ]
  expect(Object.fromEntries(parseMounts(mountinfo.join('\n')))).toEqual({
    '/mnt/my files': '30',
    '/home/ann/drive': '31',
    '/mnt/auto': '35',
  })
})

test('a root that a server answers for is like any other', () => {
  expect(parseMounts('22 1 0:30 / / rw - fuse.fuse-overlayfs overlay rw').size).toBe(0)
})

test('a path into a mount is found through links, without a look at the mount', () => {
  const directory = temporaryDirectory()
  mkdirSync(join(directory, 'home'))
  symlinkSync('../mnt/net', join(directory, 'home', 'Net'))
  symlinkSync(join(directory, 'home', 'Net', 'Papers'), join(directory, 'papers'))
  symlinkSync('circle', join(directory, 'circle'))
  // Nothing is at this place: a look at it would fail.
  const point = join(directory, 'mnt', 'net')
  const find = (path: string) => findShared(join(directory, path), new Map([[point, '7']]))
  expect(find('papers/2026/a.md')).toEqual({ mount: '7', point, path: join(point, 'Papers', '2026', 'a.md') })
  expect(find('home/Net')).toEqual({ mount: '7', point, path: point })
  for (const path of ['home', 'home/Net2', 'mnt', 'circle/a', 'gone/a']) expect(find(path)).toBeUndefined()
})
