/** What Ctrl-C does to a run of the real program, and what the program prints. */
import { describe, expect, test } from 'vitest'
import { configure, startDaemon } from '../support/daemon.ts'
import { expectExit, type Home } from '../support/home.ts'
import { homeOnService } from '../support/home-on-service.ts'
import { readLibrary } from '../support/library-contents.ts'
import { manyFiles } from '../support/temporary.ts'
import { CTRL_C, openTerminal } from '../support/terminal.ts'

const FILES = 30
const TRANSFERS = 4

/** A service that holds each upload after its first byte, and a directory with files for it. */
async function holdUploads() {
  const { service, home, root: path } = await homeOnService(manyFiles(FILES, FILES))
  configure(home, { mirrors: [{ name: 'papers', path, library: 'Research', settle: '0s' }] })
  return { home, service, ...service.holdUploads(1, TRANSFERS) }
}

/** A `sync` in its own process, in the middle of as many uploads as it may run at a time. */
async function syncInTheMiddle(args: readonly string[] = []) {
  const { begun, ...held } = await holdUploads()
  const running = held.home.start(['sync', 'papers', ...args])
  await begun
  return { ...held, running }
}

async function statusOf(home: Home) {
  const { mirrors } = await home.json(['status'])
  return mirrors.find(({ path }: { path: string }) => path.endsWith('Papers'))
}

describe('the first Ctrl-C', () => {
  test('the first Ctrl-C counts at once the uploads it waits for [F-PR-01]', async () => {
    const { service, release, running } = await syncInTheMiddle(['--json'])
    running.child.kill('SIGINT')
    await running.logged(
      'Stopping: finishing 4 uploads (Ctrl-C again ends now; what is unfinished is checked next time). 26 files are left; the same command goes on from here.\n',
    )
    release()
    const { exitCode, stdout } = await running.ended
    expect(exitCode).toBe(130)
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'incomplete',
      mirrors: [{ problems: [], uploads: { created: TRANSFERS, failed: 0, inDoubt: 0 } }],
    })
    expect(readLibrary(service.dataDir)).toHaveLength(TRANSFERS)
  })

  test('an interrupted run is no failure in the status [F-PR-01]', async () => {
    const { home, release, running } = await syncInTheMiddle()
    running.child.kill('SIGTERM')
    await running.logged('Stopping')
    release()
    await running.ended
    expect(await statusOf(home)).toMatchObject({ lastRun: { verdict: 'interrupted' }, problems: [] })
    const { stdout } = await home.shelfd(['status'])
    expect(stdout).not.toMatch(/fail/i)
    expect(stdout).toMatch(/! interrupted \S+; the same command continues from there · 26 files to send · 4 files /)
    expect(await home.sync(['papers'])).toMatchObject({ exitCode: 0, summary: { verdict: 'ok' } })
  })

  test('the first Ctrl-C is logged as a line of JSON', async () => {
    const { release, running } = await syncInTheMiddle(['--log-format', 'json'])
    running.child.kill('SIGINT')
    await running.logged('Stopping')
    release()
    const { stderr } = await running.ended
    const lines = stderr.trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'info', msg: expect.stringMatching(/^Stopping: finishing 4 uploads/), uploading: 4 },
      { level: 'error', code: 'interrupted', exitCode: 130 },
    ])
  })

  test('Ctrl-C before any upload announces no wait', async () => {
    const { home, service } = await holdUploads()
    service.answer = ({ route }) => (route === 'description' ? { status: 503, body: {} } : undefined)
    const asked = Promise.withResolvers<void>()
    service.fault = ({ route }) => {
      if (route === 'checkAccess') asked.resolve()
      return undefined
    }
    const running = home.start(['sync', 'papers'])
    await asked.promise
    running.child.kill('SIGINT')
    await running.logged('Stopping. The same command goes on from here.\n')
    expect(await running.ended).toMatchObject({ exitCode: 130 })
  })
})

test('the second Ctrl-C ends at once and counts the cut uploads [F-PR-02]', async () => {
  const { home, service, release, running } = await syncInTheMiddle()
  running.child.kill('SIGINT')
  await running.logged('Stopping')
  running.child.kill('SIGINT')
  expectExit(
    await running.ended,
    130,
    /\n4 uploads were cut: it is not known whether they arrived; the next run looks\n$/,
  )
  expect(await statusOf(home)).toMatchObject({ files: { inDoubt: TRANSFERS, sending: 0, toSend: FILES - TRANSFERS } })
  release()
  expect(await home.sync(['papers'])).toMatchObject({ exitCode: 0 })
  expect(readLibrary(service.dataDir)).toHaveLength(FILES)
})

describe('Ctrl-C beside a daemon', () => {
  test('Ctrl-C ends the run and leaves its uploads to the daemon', async () => {
    const { home, service, release, begun } = await holdUploads()
    configure(home, { mirrors: [{ name: 'other', path: home.write('Other', {}), library: 'Research' }] })
    const daemon = await startDaemon(home)
    const terminal = openTerminal(['sync', 'Papers', '--to', 'Research'], home)
    await begun
    await terminal.shows('uploading')
    terminal.type(CTRL_C)
    await terminal.shows('Stopping: the daemon finishes 4 uploads (Ctrl-C again ends without waiting for it)\r\n')
    terminal.type(CTRL_C)
    expect(await terminal.ended).toMatchObject({
      exitCode: 130,
      output: expect.stringMatching(/The daemon finishes 4 uploads on its own\r\n$/),
    })
    release()
    await daemon.stop()
    expect(readLibrary(service.dataDir)).toHaveLength(TRANSFERS)
    expect(await statusOf(home)).toMatchObject({ files: { inDoubt: 0 }, lastRun: { verdict: 'interrupted' } })
  })
})
