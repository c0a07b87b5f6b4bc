import { statfsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { chooseBackEnd } from '../../../src/local/watch/choose-back-end.ts'
import { systemError } from '../trees.ts'

const QUESTION = { wanted: 'auto', root: '/mirror', platform: 'linux', statfs: () => ({ type: 0xef53 }) } as const

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
    ['0x123', 0x123, 'poll'],
  ])('fits the file system %s', (name, type, backEnd) => {
    const choice = chooseBackEnd({ ...QUESTION, statfs: () => ({ type }) })
    expect(choice.backEnd).toBe(backEnd)
    expect(choice.reason).toContain(name)
  })

  test('knows magic numbers given as negative ones', () => {
    expect(chooseBackEnd({ ...QUESTION, statfs: () => ({ type: 0xff534d42 | 0 }) }).reason).toContain('cifs')
  })

  test('is polling where nobody can tell', () => {
    const statfs = () => {
      throw systemError('EACCES')
    }
    expect(chooseBackEnd({ ...QUESTION, statfs })).toEqual({
      backEnd: 'poll',
      reason: expect.stringContaining('EACCES'),
    })
  })

  test.runIf(process.platform === 'linux')('is chosen by what the system says', () => {
    const choice = chooseBackEnd({ ...QUESTION, root: '/proc', statfs: (path) => statfsSync(path) })
    expect(choice).toEqual({ backEnd: 'poll', reason: 'unknown file system 0x9fa0' })
  })
})

test.each([
  ['darwin', 'parcel'],
  ['win32', 'parcel'],
  ['sunos', 'poll'],
] as const)('the back end on %s is %s', (platform, backEnd) => {
  expect(chooseBackEnd({ ...QUESTION, platform }).backEnd).toBe(backEnd)
})

test.each(['node', 'parcel', 'chokidar', 'poll'] as const)('whoever wants %s gets it', (wanted) => {
  const statfs = () => ({ type: 0x6969 })
  expect(chooseBackEnd({ ...QUESTION, wanted, statfs }).backEnd).toBe(wanted)
})
