/** What only a real process meets: too few descriptors, a stop in the middle, a log that was cut after a kill. */
import { copyFileSync, cpSync, rmSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'
import { manyFiles, temporaryDirectory } from '../support/temporary.ts'

const SYNC = ['sync', 'Papers', '--to', 'Research']
const MEGABYTE = 2 ** 20

async function openHome() {
  const service = await startFaultyService({ library: 'Research', hasNoDuplicateRule: true })
  return { service, home: temporaryHome(service) }
}

test.runIf(process.platform !== 'win32')(
  'too few descriptors damage nothing and repeat no upload [F-FS-06]',
  async () => {
    const { service, home } = await openHome()
    home.write('Papers', manyFiles(40, 40))
    for (const limit of [20, 22, 24, 28, 36]) {
      const launcher = ['sh', '-c', `ulimit -n ${limit} && exec "$@"`, 'sh']
      const running = home.start([...SYNC, '--log-format', 'json'], { launcher })
      const { stderr } = await running.ended
      // Node itself may lack descriptors and end; no message may then ask the operator to move the state away.
      expect({ limit, stderr }).not.toMatchObject({ stderr: expect.stringMatching(/store-damaged|"unexpected"/) })
    }
    expect(await home.shelfd(SYNC)).toMatchObject({ exitCode: 0 })
    expect(readLibrary(service.dataDir)).toHaveLength(40)
  },
)

test.runIf(process.platform !== 'win32')(
  'a process stopped during an upload completes it afterwards [P4, F-PR-15]',
  async () => {
    const { service, home } = await openHome()
    home.write('Papers', { 'large.md': 'large '.repeat(MEGABYTE), 'small.md': 'small' })
    const running = home.start([...SYNC, '--json'])
    let stops = 0
    service.onUploadBegun = () => {
      if (stops > 0) return
      stops += 1
      running.child.kill('SIGSTOP')
      // The service does not wait: its connection is closed when the process continues.
      setImmediate(() => running.child.kill('SIGCONT'))
      throw new Error('given up by the test')
    }
    expect(await running.ended).toMatchObject({ exitCode: 0 })
    expect(stops).toBe(1)
    expect(readLibrary(service.dataDir)).toHaveLength(2)
  },
)

test('a write-ahead log cut after a kill repeats no upload [P1, P24]', async () => {
  const { service, home } = await openHome()
  home.write('Papers', manyFiles(12, 12))
  const { child, ended } = home.start(SYNC)
  let answered = 0
  service.onResponse = ({ route }) => {
    if (route === 'showResource') answered += 1
    if (answered === 6) child.kill('SIGKILL')
  }
  await ended
  service.onResponse = () => {}
  const killed = join(temporaryDirectory(), 'killed')
  cpSync(home.stateDir, killed, { recursive: true })
  const sent = service.count('uploadFile')
  const { size } = statSync(join(killed, 'store.db-wal'))
  const ends: { readonly exitCode: number | null; readonly asksForRestore: boolean }[] = []
  for (const share of [0, 0.3, 0.6, 0.9, 0.99]) {
    rmSync(home.stateDir, { recursive: true })
    cpSync(killed, home.stateDir, { recursive: true, preserveTimestamps: true })
    truncateSync(join(home.stateDir, 'store.db-wal'), Math.floor(size * share))
    const { exitCode, stderr } = await home.shelfd(SYNC)
    ends.push({ exitCode, asksForRestore: stderr.includes('restore') })
  }
  // If the cut end of the log holds no durable commit, nothing is missing.
  expect(ends[0]).toEqual({ exitCode: 78, asksForRestore: true })
  for (const { exitCode, asksForRestore } of ends)
    expect(['78 true', '0 true']).toContain(`${exitCode} ${asksForRestore}`)
  expect(service.count('uploadFile')).toBe(sent)
  rmSync(home.stateDir, { recursive: true })
  cpSync(killed, home.stateDir, { recursive: true })
  copyFileSync(join(killed, 'store.db-wal'), join(home.stateDir, 'store.db-wal'))
  expect(await home.shelfd(SYNC)).toMatchObject({ exitCode: 0 })
  expect(readLibrary(service.dataDir)).toHaveLength(12)
})
