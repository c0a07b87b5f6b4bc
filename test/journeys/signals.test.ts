/** What signals do to commands that run for long. */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { expect, onTestFinished, test } from 'vitest'
import { startFaultyService } from '../support/faulty-service.ts'
import { type Home, homeWithPapers, temporaryHome } from '../support/home.ts'
import { MAIN } from '../support/run-shelfd.ts'

type Process = ChildProcessByStdio<Writable, Readable, Readable>

/** A command whose standard input stays open, as that of a program that an assistant or a terminal started. */
function start(home: Home, args: readonly string[]) {
  const child: Process = spawn(process.execPath, [MAIN, ...args], { cwd: home.path, env: home.env })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    log += piece
  })
  const closed = once(child, 'close')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await closed
  })
  return { child, log: () => log, exitCode: async () => (await closed)[0] }
}

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
}
const SEARCH = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'search', arguments: { query: 'x' } } }

function send({ child }: ReturnType<typeof start>, message: object): void {
  child.stdin.write(`${JSON.stringify(message)}\n`)
}

test.each(['SIGTERM', 'SIGINT'] as const)(
  '%s ends a server for assistants whose stdin stays open [F-PR-18]',
  async (signal) => {
    const running = start(temporaryHome(), ['mcp'])
    send(running, INITIALIZE)
    await once(running.child.stdout, 'data')
    running.child.kill(signal)
    expect(await running.exitCode()).toBe(0)
    expect(running.log()).toBe('')
  },
)

test('SIGTERM ends a server for assistants in the middle of a call [F-PR-18]', async () => {
  const service = await startFaultyService({ library: 'Test' })
  const asked = Promise.withResolvers<void>()
  const latch = Promise.withResolvers<void>()
  onTestFinished(() => latch.resolve())
  service.onResponse = ({ route }) => {
    if (route !== 'searchResources') return
    asked.resolve()
    return latch.promise
  }
  const running = start(temporaryHome(service), ['mcp'])
  send(running, INITIALIZE)
  await once(running.child.stdout, 'data')
  send(running, { jsonrpc: '2.0', method: 'notifications/initialized' })
  send(running, SEARCH)
  await asked.promise
  running.child.kill('SIGTERM')
  expect(await running.exitCode()).toBe(0)
})

test('SIGTERM ends a request whose data do not come [F-PR-18]', async () => {
  const running = start(temporaryHome(), ['api', 'POST', '/v1/libraries', '--data', '@-'])
  // More than a pipe holds, so that the command reads once all is written.
  await new Promise((resolve) => running.child.stdin.write(' '.repeat(2 ** 20), resolve))
  running.child.kill('SIGTERM')
  expect(await running.exitCode()).toBe(130)
})

const SERVERS = [
  { args: ['daemon'], isUp: 'stderr' },
  { args: ['serve', '--json'], isUp: 'stdout' },
  { args: ['dashboard', '--json'], isUp: 'stdout' },
  { args: ['mcp'], isUp: 'stdout' },
] as const

test.runIf(process.platform !== 'win32').each(SERVERS)(
  'SIGUSR1 opens no debugger in $args.0 [S-26]',
  async ({ args, isUp }) => {
    const home = homeWithPapers({ 'a.md': 'A' })
    expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
    const running = start(home, args)
    send(running, INITIALIZE)
    await once(running.child[isUp], 'data')
    running.child.kill('SIGUSR1')
    // Node would say so before it handles the next signal.
    running.child.kill('SIGTERM')
    expect(await running.exitCode()).toBe(0)
    expect(running.log()).not.toMatch(/debugger/i)
  },
)
