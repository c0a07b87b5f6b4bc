/** The daemon as systemd runs it: its variables, its socket, its signals. */
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type FaultyService, startFaultyService } from '../support/faulty-service.ts'
import { listenForNotifications } from '../support/notify-socket.ts'
import { startShelfd } from '../support/run-shelfd.ts'
import { temporaryDirectory, writeTree } from '../support/temporary.ts'

describe.runIf(process.platform === 'linux')('the daemon under systemd', () => {
  test('the daemon notifies systemd of start, life, reload and end', async () => {
    const service = await startFaultyService({ library: 'Papers' })
    const socket = await listenForNotifications()
    const { child, ended } = startDaemon(service, socket.path)

    await Promise.race([socket.until((all) => all.some(isReady)), ended.then(failEarly)])
    expect(socket.messages.find(isReady)).toMatch(/^READY=1\nSTATUS=1 mirror/)
    await socket.until((all) => all.filter((message) => message === 'WATCHDOG=1').length >= 3)
    await expect.poll(() => service.count('uploadFile')).toBe(1)

    const before = socket.messages.length
    child.kill('SIGHUP')
    const reload = await socket.until((all) => all.slice(before).some(isReady))
    const announced = reload.slice(before).filter((message) => isReady(message) || message.startsWith('RELOADING=1'))
    expect(announced).toEqual([
      expect.stringMatching(/^RELOADING=1\nMONOTONIC_USEC=\d+$/),
      expect.stringMatching(/^READY=1\nSTATUS=1 mirror/),
    ])

    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ exitCode: 0 })
    expect((await socket.until((all) => all.some(isStopping))).at(-1)).toMatch(/^STOPPING=1/)
    expect(socket.messages.join('\n')).not.toContain(service.token)
  })

  test("the daemon keeps its state in systemd's state directory", async () => {
    const service = await startFaultyService({ library: 'Papers' })
    const socket = await listenForNotifications()
    const { child, ended, stateDir } = startDaemon(service, socket.path)
    await Promise.race([socket.until((all) => all.some(isReady)), ended.then(failEarly)])
    expect(existsSync(join(stateDir, 'store.db'))).toBe(true)
    child.kill('SIGTERM')
    expect(await ended).toMatchObject({ exitCode: 0 })
  })
})

/** The daemon with one mirror of one file, and its token in a credential. */
function startDaemon(service: FaultyService, socketPath: string) {
  const path = temporaryDirectory()
  const [stateDir, runtimeDir, credentials] = ['state', 'run', 'credentials'].map((name) => join(path, name))
  if (!stateDir || !runtimeDir || !credentials) throw new Error('unreachable')
  for (const directory of [stateDir, runtimeDir, credentials]) mkdirSync(directory, { mode: 0o700 })
  writeFileSync(join(credentials, 'token'), `${service.token}\n`, { mode: 0o400 })
  const papers = writeTree(join(path, 'Papers'), { 'tides.md': '# Tides\n' })
  const config = join(path, 'config.yaml')
  writeFileSync(config, `mirrors:\n  - { path: ${JSON.stringify(papers)}, library: Papers, settle: 0s }\n`)
  chmodSync(config, 0o600)
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: path,
    SHELFD_CONFIG: config,
    SHELFD_SERVICE_URL: service.url,
    SHELFD_FIRST_POLL: '50ms',
    NOTIFY_SOCKET: socketPath,
    WATCHDOG_USEC: '2000000',
    CREDENTIALS_DIRECTORY: credentials,
    STATE_DIRECTORY: stateDir,
    INVOCATION_ID: 'f'.repeat(32),
    RUNTIME_DIRECTORY: runtimeDir,
  }
  return { ...startShelfd(['daemon'], { env, cwd: path }), stateDir }
}

function isReady(message: string): boolean {
  return message.startsWith('READY=1')
}

function isStopping(message: string): boolean {
  return message.startsWith('STOPPING=1')
}

function failEarly({ exitCode, stderr }: { exitCode: number | null; stderr: string }): never {
  throw new Error(`The daemon ended with ${exitCode}: ${stderr}`)
}
