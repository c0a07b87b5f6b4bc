import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { Notifier, type NotifierInput, type SendMessage } from '../../src/daemon/sd-notify.ts'
import { type Clock, systemClock } from '../../src/foundation/clock.ts'
import { type Logger, silentLogger } from '../../src/foundation/logger.ts'
import { listenForNotifications } from '../support/notify-socket.ts'
import { temporaryDirectory } from '../support/temporary.ts'

const PATH = process.env.PATH ?? ''

describe('a real datagram socket', () => {
  test('messages to the service manager arrive one by one, in order', async () => {
    const socket = await listenForNotifications()
    const notifier = new Notifier(inputWith({ env: { PATH, NOTIFY_SOCKET: socket.path } }))
    const beforeUsec = process.hrtime.bigint() / 1_000n
    notifier.ready('2 mirrors')
    notifier.reloading()
    notifier.ready('3 mirrors')
    notifier.stopping()
    const messages = await socket.until(({ length }) => length === 4)
    expect(messages).toEqual([
      'READY=1\nSTATUS=2 mirrors',
      expect.stringMatching(/^RELOADING=1\nMONOTONIC_USEC=\d+$/),
      'READY=1\nSTATUS=3 mirrors',
      'STOPPING=1',
    ])
    const usec = BigInt(messages[1]?.split('=').at(-1) ?? 0)
    expect(usec >= beforeUsec && usec <= process.hrtime.bigint() / 1_000n).toBe(true)
  })

  test('a status is always sent as one line', async () => {
    const socket = await listenForNotifications()
    const notifier = new Notifier(inputWith({ env: { PATH, NOTIFY_SOCKET: socket.path } }))
    notifier.status('halted: Fotos für\nREADY=1')
    notifier.stopping()
    expect(await socket.until(({ length }) => length === 2)).toEqual([
      'STATUS=halted: Fotos für\\nREADY=1',
      'STOPPING=1',
    ])
  })

  test('life is signalled at half the interval of the watchdog', async () => {
    const socket = await listenForNotifications()
    const env = { PATH, NOTIFY_SOCKET: socket.path, WATCHDOG_USEC: '100000', WATCHDOG_PID: String(process.pid) }
    using _ = new Notifier(inputWith({ env, clock: systemClock })).startWatchdog(() => true)
    expect(await socket.until(({ length }) => length >= 3)).toEqual(['WATCHDOG=1', 'WATCHDOG=1', 'WATCHDOG=1'])
  })
})

describe('status messages', () => {
  test('a status is sent when it changes, the last one always', async () => {
    const { sent, run } = createRecorder()
    const clock = createStillClock()
    const notifier = new Notifier(inputWith({ run, clock }))
    for (const text of ['a', 'a', 'b', 'c']) notifier.status(text)
    await settle()
    expect(sent).toEqual(['STATUS=a'])
    await clock.wake()
    expect(sent).toEqual(['STATUS=a', 'STATUS=c'])
    expect(clock.pausesMs).toEqual([3_000, 3_000])
    await clock.wake()
    notifier.status('c')
    await settle()
    expect(sent).toEqual(['STATUS=a', 'STATUS=c'])
  })

  test('a pending status is sent with the end', async () => {
    const { sent, run } = createRecorder()
    const notifier = new Notifier(inputWith({ run }))
    for (const text of ['a', 'b']) notifier.status(text)
    notifier.stopping()
    notifier.status('after the end')
    await settle()
    expect(sent).toEqual(['STATUS=a', 'STOPPING=1\nSTATUS=b'])
  })
})

describe('the watchdog', () => {
  const watched = { NOTIFY_SOCKET: '/run/notify', WATCHDOG_USEC: '4000000' }

  test('a hanging daemon signals no life to the watchdog', async () => {
    const { sent, run } = createRecorder()
    const clock = createStillClock()
    let isAlive = true
    using _ = new Notifier(inputWith({ env: watched, run, clock })).startWatchdog(() => isAlive)
    await clock.wake()
    isAlive = false
    await clock.wake()
    await clock.wake()
    expect(sent).toEqual(['WATCHDOG=1'])
    expect(new Set(clock.pausesMs)).toEqual(new Set([2_000]))
    isAlive = true
    await clock.wake()
    expect(sent).toEqual(['WATCHDOG=1', 'WATCHDOG=1'])
  })

  test('the watchdog of another process is left alone', async () => {
    const clock = createStillClock()
    for (const env of [{ ...watched, WATCHDOG_PID: '1' }, { NOTIFY_SOCKET: '/run/notify' }]) {
      new Notifier(inputWith({ env, clock })).startWatchdog(() => true)
    }
    await settle()
    expect(clock.pausesMs).toEqual([])
  })

  test('a disposed watchdog signals nothing more', async () => {
    const { sent, run } = createRecorder()
    const clock = createStillClock()
    new Notifier(inputWith({ env: watched, run, clock })).startWatchdog(() => true)[Symbol.dispose]()
    await clock.wake()
    expect(sent).toEqual([])
  })
})

describe('the program that notifies the service manager', () => {
  test('a failing notification is logged once and stops nothing', async () => {
    const warnings: unknown[] = []
    const logger: Logger = { ...silentLogger, warn: (message, fields) => void warnings.push([message, fields]) }
    const { sent, run } = createRecorder()
    const failing: typeof run = async (...message) => {
      await run(...message)
      throw new Error('spawn systemd-notify ENOENT')
    }
    const notifier = new Notifier(inputWith({ run: failing, logger }))
    notifier.ready('a')
    notifier.stopping()
    await settle()
    expect(sent).toHaveLength(2)
    expect(warnings).toEqual([['Cannot notify the service manager', { reason: 'spawn systemd-notify ENOENT' }]])
  })

  test('nothing is started without a service manager', async () => {
    const { sent, run } = createRecorder()
    const notifier = new Notifier(inputWith({ env: { WATCHDOG_USEC: '1000' }, run }))
    notifier.ready('a')
    notifier.status('b')
    notifier.startWatchdog(() => true)
    notifier.stopping()
    await settle()
    expect(sent).toEqual([])
  })

  test('systemd-notify is started without secrets', async () => {
    const directory = temporaryDirectory()
    const seen = join(directory, 'seen')
    writeFileSync(join(directory, 'systemd-notify'), `#!/bin/sh\nenv > ${seen}.partial\nmv ${seen}.partial ${seen}\n`)
    chmodSync(join(directory, 'systemd-notify'), 0o755)
    const socket = await listenForNotifications()
    const env = { PATH: `${directory}:${PATH}`, NOTIFY_SOCKET: socket.path, SHELFD_TOKEN: 'secret-token' }
    new Notifier(inputWith({ env })).stopping()
    await expect.poll(() => readIfThere(seen)).toContain('NOTIFY_SOCKET=')
    expect(readIfThere(seen)).not.toContain('secret-token')
  })
})

function inputWith(input: Partial<NotifierInput>): NotifierInput {
  return { env: { NOTIFY_SOCKET: '/run/notify' }, clock: createStillClock(), logger: silentLogger, ...input }
}

function readIfThere(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** Keeps messages instead of sending them. */
function createRecorder() {
  const sent: string[] = []
  const run: SendMessage = async (lines) => {
    sent.push(lines.join('\n'))
  }
  return { sent, run }
}

/** A clock whose sleepers wake when the test calls `wake`. */
function createStillClock() {
  const pausesMs: number[] = []
  let sleepers: { wake(): void }[] = []
  const clock: Clock = {
    nowMs: () => 0,
    monotonicMs: () => 0,
    startTimer: systemClock.startTimer,
    sleep: (durationMs, signal) =>
      new Promise((resolve, reject) => {
        pausesMs.push(durationMs)
        sleepers.push({ wake: resolve })
        signal?.addEventListener('abort', () => reject(signal.reason))
      }),
  }
  const wake = async () => {
    const woken = sleepers
    sleepers = []
    for (const sleeper of woken) sleeper.wake()
    await settle()
  }
  return { ...clock, pausesMs, wake }
}

/** Lets all pending callbacks run. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
