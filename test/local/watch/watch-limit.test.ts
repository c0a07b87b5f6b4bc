import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { describeWatchLimit, isWatchLimit } from '../../../src/local/watch/watch-limit.ts'
import { needs } from '../../support/needs.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { systemError } from '../trees.ts'
import type { Limited } from './watch-with-few.ts'

const SCRIPT = join(import.meta.dirname, 'watch-with-few.ts')
/** A user name space has its own limit, which the process that creates it may set. */
const WITH_FEW = ['-Ur', 'sh', '-c', 'echo 4 > /proc/sys/user/max_inotify_watches && exec "$@"', 'sh']

describe('a system that allows four watches', () => {
  needs('unshare', 'watch-limits')

  test('node watches as many directories as the limit allows [F-FS-20]', () => {
    expect(watchEight('node')).toEqual({
      added: 4,
      isLimited: true,
      limits: [expect.stringContaining('fs.inotify.max_user_watches')],
      refusal: null,
    })
  })

  test('chokidar refuses at the limit with the setting to raise [F-FS-20]', () => {
    const { refusal, limits } = watchEight('chokidar')
    expect(refusal).not.toBeNull()
    expect(limits).toEqual([expect.stringContaining('fs.inotify.max_user_watches')])
  })
})

test('a watch limit is distinguished from other errors', () => {
  expect([systemError('ENOSPC'), systemError('EMFILE')].map(isWatchLimit)).toEqual([true, true])
  expect([systemError('EACCES'), new Error('Unable to watch'), undefined].map(isWatchLimit)).toEqual(
    Array(3).fill(false),
  )
})

test.runIf(process.platform === 'linux')('the limit of instances names its own setting', () => {
  expect(describeWatchLimit(systemError('EMFILE'))).toMatch(
    /fs\.inotify\.max_user_instances is \d+; raise it with "sysctl /,
  )
})

function watchEight(backEnd: string): Limited {
  const directory = temporaryDirectory({ 'a/b/c/d/e/f/g/': '' })
  const command = [process.execPath, SCRIPT, directory, backEnd]
  const { stdout, stderr } = spawnSync('unshare', [...WITH_FEW, ...command], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}
