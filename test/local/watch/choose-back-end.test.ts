import { statfsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { chooseBackEnd } from '../../../src/local/watch/open-tree-watcher.ts'
import { systemError } from '../trees.ts'

const PLACE = { root: '/mirror', platform: 'linux', statfs: () => ({ type: 0xef53 }) } as const

describe('the back end on Linux', () => {
  test.each([
    ['ext4', 0xef53, 'node'],
    ['xfs', 0x58465342, 'node'],
    ['btrfs', 0x9123683e, 'node'],
    ['tmpfs', 0x01021994, 'node'],
    ['zfs', 0x2fc12fc1, 'node'],
    ['overlayfs', 0x794c7630, 'node'],
    ['f2fs', 0xf2f52010, 'node'],
    ['bcachefs', 0xca451a4e, 'node'],
    ['nfs', 0x6969, 'poll'],
    ['cifs', 0xff534d42, 'poll'],
    ['smb2', 0xfe534d42, 'poll'],
    ['fuse', 0x65735546, 'poll'],
    ['9p', 0x01021997, 'poll'],
    ['ceph', 0x00c36400, 'poll'],
    ['lustre', 0x0bd00bd0, 'poll'],
    ['vboxsf', 0x786f4256, 'poll'],
    ['0x123', 0x123, 'chokidar'],
  ])('the back end fits the file system %s [F-FS-22]', (name, type, backEnd) => {
    const choice = chooseBackEnd('auto', { ...PLACE, statfs: () => ({ type }) })
    expect(choice.backEnd).toBe(backEnd)
    expect(choice.reason).toContain(name)
  })

  test('negative magic numbers are recognised', () => {
    expect(chooseBackEnd('auto', { ...PLACE, statfs: () => ({ type: 0xff534d42 | 0 }) }).reason).toContain('cifs')
  })

  test('a file system without a readable type is polled [F-FS-22]', () => {
    const statfs = () => {
      throw systemError('EACCES')
    }
    expect(chooseBackEnd('auto', { ...PLACE, statfs })).toEqual({
      backEnd: 'chokidar',
      reason: expect.stringContaining('EACCES'),
    })
  })

  test('a file system that does not answer is scanned by threads, also once it answers again [F-FS-31]', () => {
    const statfs = () => {
      throw systemError('ETIMEDOUT')
    }
    expect(chooseBackEnd('auto', { ...PLACE, statfs }).backEnd).toBe('poll')
  })

  test.runIf(process.platform === 'linux')('the type of a file system comes from the system', () => {
    const choice = chooseBackEnd('auto', { ...PLACE, root: '/proc', statfs: (path) => statfsSync(path) })
    expect(choice).toEqual({ backEnd: 'chokidar', reason: 'polling: unknown file system 0x9fa0' })
  })
})

test.each([
  ['darwin', 'chokidar'],
  ['win32', 'chokidar'],
  ['sunos', 'chokidar'],
] as const)('the back end on %s is %s', (platform, backEnd) => {
  expect(chooseBackEnd('auto', { ...PLACE, platform }).backEnd).toBe(backEnd)
})

test('the settings may choose to poll any place', () => {
  expect(chooseBackEnd('poll', PLACE).backEnd).toBe('poll')
})
