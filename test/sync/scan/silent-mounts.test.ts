/** Mounts that do not answer, by file systems whose calls the test makes fail. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Clock } from '../../../src/foundation/clock.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { ANSWER_MS } from '../../../src/local/read/file-system.ts'
import { faulty, systemError } from '../../local/trees.ts'
import { accountOf, mirrorOf, openTestEngine, startEngine } from '../../support/engine.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

/** Nobody waits for the time that a mount has. */
const HURRIED: Clock = {
  ...systemClock,
  sleep: (durationMs, signal) => systemClock.sleep(durationMs === ANSWER_MS ? 0 : durationMs, signal),
}

const never = () => new Promise<void>(() => {})

test('a mirror that never answers is named, without a call on it, and the others go on [F-FS-31]', async () => {
  await using service = await startFaultyService()
  const silent = writeTree(temporaryDirectory(), { 'a.md': 'out of reach' })
  const calls: string[] = []
  const fs = faulty({
    answers: (path) => (path === silent ? never() : undefined),
    realpathSync: (path) => {
      calls.push(path)
      return path
    },
  })
  await using tested = openTestEngine(service, { fs, clock: HURRIED })
  const [first, last] = [
    writeTree(temporaryDirectory(), { 'b.md': 'b' }),
    writeTree(temporaryDirectory(), { 'c.md': 'c' }),
  ]
  const result = await tested.sync([first, silent, last].map((path) => mirrorOf(path)))
  expect(result.failure).toMatchObject({ kind: 'root', code: 'root-unreadable' })
  expect(result.summary.mirrors).toMatchObject([
    { uploads: { created: 1 }, problems: [] },
    { problems: [{ code: 'root-unreadable', message: expect.stringContaining(`"${silent}": it does not answer`) }] },
    { uploads: { created: 1 }, problems: [] },
  ])
  expect(calls).not.toContain(silent)
})

test('what lies on a mount in the directory stays known while it does not answer [F-FS-31]', async () => {
  await using service = await startFaultyService()
  const root = writeTree(temporaryDirectory(), { 'a.md': 'a', 'b.md': 'b', 'net/c.md': 'c', 'net/d/e.md': 'e' })
  const point = join(root, 'net')
  let isSilent = false
  const refuse = (path: string) => {
    if (isSilent && path.endsWith('/net')) throw new Error('A call on a mount that does not answer')
  }
  const fs = faulty({
    mountsIn: (path) => (path === root ? [point] : []),
    answers: (path) => (isSilent && path === point ? never() : undefined),
    lstatSync: (path, options) => {
      refuse(path)
      return faulty({}).lstatSync(path, options)
    },
  })
  await using tested = openTestEngine(service, { fs, clock: HURRIED })
  const mirror = mirrorOf(root)
  expect((await tested.sync([mirror])).outcome).toBe('done')
  isSilent = true
  writeTree(root, { 'f.md': 'f' })
  expect(accountOf(await tested.sync([mirror]))).toMatchObject({
    files: { removed: 0, new: 1 },
    uploads: { created: 1 },
    problems: [{ path: 'net', code: 'io-error' }],
  })
  isSilent = false
  const again = await tested.sync([mirror])
  expect(again.outcome).toBe('done')
  expect(accountOf(again).files).toMatchObject({ unchanged: 5, removed: 0 })
  isSilent = true
  expect(accountOf(await tested.sync([mirrorOf(root, { ignore: ['net/'] })])).problems).toEqual([])
})

test('a directory whose state cannot be read stays known with all below [F-FS-04, F-FS-31]', async () => {
  let code: string | undefined
  const fs = faulty({
    lstatSync: (path, options) => {
      // Of a FUSE mount whose program has ended.
      if (code !== undefined && path.endsWith('/net')) throw systemError(code)
      return faulty({}).lstatSync(path, options)
    },
  })
  const { tested, mirror } = await startEngine({ 'a.md': 'a', 'b.md': 'b', 'net/c.md': 'c' }, { fs })
  expect((await tested.sync([mirror])).outcome).toBe('done')
  code = 'ENOTCONN'
  expect(accountOf(await tested.sync([mirror]))).toMatchObject({ files: { removed: 0 }, problems: [{ path: 'net' }] })
  code = undefined
  expect(accountOf(await tested.sync([mirror])).files).toMatchObject({ unchanged: 3, removed: 0 })
})
