/** Files that never end and processes that do not answer: no command waits for them. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { configure, startDaemon } from '../support/daemon.ts'
import { startFaultyService } from '../support/faulty-service.ts'
import { expectExit, homeWithPapers, temporaryHome } from '../support/home.ts'

test('a token file that is a pipe is refused [F-PR-13]', async () => {
  const service = await startFaultyService({ library: 'Research' })
  const home = temporaryHome()
  const pipe = join(home.path, 'token')
  execFileSync('mkfifo', ['-m', '600', pipe])
  configure(home, { service: { url: service.url, tokenFile: pipe } })
  expectExit(await home.run(['whoami']), 2, /token": it is a pipe or a socket/)
})

test('a configuration that is a pipe is refused [F-PR-13]', async () => {
  const home = temporaryHome()
  const pipe = join(home.path, 'config.yaml')
  execFileSync('mkfifo', ['-m', '600', pipe])
  expectExit(await home.run(['sync', '--config', pipe]), 2, /config\.yaml": it is a pipe or a socket/)
})

test('status reports a stopped daemon and answers from the store [F-PR-13]', async () => {
  const home = homeWithPapers({ 'a.md': 'A' })
  await home.sync(['Papers'])
  const daemon = await startDaemon(home)
  daemon.child.kill('SIGSTOP')
  try {
    const { stdout } = expectExit(await home.run(['status']), 0, /no answer within 3 s/)
    expect(stdout).toMatch(/Papers/)
  } finally {
    daemon.child.kill('SIGCONT')
  }
})
