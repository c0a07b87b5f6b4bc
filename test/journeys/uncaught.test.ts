/** A daemon in which code throws an unexpected exception. */
import { expect, test } from 'vitest'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { titlesIn } from '../support/library-contents.ts'

/** Code that is loaded before the program and throws at SIGUSR2. */
const THROWS = `process.on('SIGUSR2', () => { throw new Error('planted') })`

/** Ends after which service/shelfd.service is not started again. */
const FINAL = [0, 2, 3, 7, 8, 78]

test('an uncaught exception ends the daemon with a restartable exit code [F-PR-04]', async () => {
  const { service, home } = await homeOnService()
  const path = home.write('Papers', { 'a.md': 'A' })
  configure(home, { mirrors: [{ name: 'papers', path, library: 'Research', settle: '50ms' }] })
  const preload = `data:text/javascript,${encodeURIComponent(THROWS)}`
  const daemon = await startDaemon(home, { NODE_OPTIONS: `--import=${preload}` })
  await daemon.until('the first file is mirrored', (now) => isIdle(now) && service.count('uploadFile') === 1)
  daemon.child.kill('SIGUSR2')
  const { exitCode, stderr } = await daemon.ended
  expect(stderr).toContain('Error: planted')
  expect(exitCode).toEqual(expect.any(Number))
  expect(FINAL).not.toContain(exitCode)

  home.write('Papers', { 'b.md': 'B' })
  const next = await startDaemon(home)
  await next.until('it continues', (now) => isIdle(now) && service.count('uploadFile') === 2)
  expect((await next.stop()).exitCode).toBe(0)
  expect(titlesIn(service)).toEqual(['a.md', 'b.md'])
})
