import { expect, test } from 'vitest'
import { systemClock } from '../../../src/foundation/clock.ts'
import { nodeFileSystem } from '../../../src/local/read/file-system.ts'
import { TooManyEntriesError } from '../../../src/local/watch/tree-watcher.ts'
import { MirrorWatch } from '../../../src/sync/continuous/mirror-watch.ts'

test.each([
  ['a large tree', new TooManyEntriesError(10), ['debug']],
  ['a watcher that cannot start', new Error('no binary'), ['debug', 'warn']],
])('%s is scanned instead of watched', async (_, error, levels) => {
  const logged: string[] = []
  const log = (level: string) => () => void logged.push(level)
  const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') }
  const method = {
    choose: () => ({ backEnd: 'chokidar', reason: 'a test' }) as const,
    watch: () => Promise.reject(error),
  }
  const place = { root: '/nowhere', settleMs: 1, method, name: 'papers' }
  const hooks = { onHint() {}, onScanNeeded() {} }
  await using watch = await MirrorWatch.open({ fs: nodeFileSystem, clock: systemClock, logger }, place, hooks)
  expect(watch).toMatchObject({ backEnd: 'poll', isPolled: true, isLimited: false })
  expect([...new Set(logged)]).toEqual(levels)
})
