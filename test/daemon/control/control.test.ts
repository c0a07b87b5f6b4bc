import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { connectToDaemon } from '../../../src/daemon/control/client/connect-to-daemon.ts'
import {
  errorCodes,
  HeldBackError,
  RejectedError,
  rebuildError,
  ShelfdError,
  TemporaryError,
} from '../../../src/foundation/errors.ts'
import { silentFileLog } from '../../../src/sync/file-log.ts'
import { createProgress } from '../../../src/sync/progress.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import {
  clientOf,
  openSocket,
  rawRequest,
  runResult,
  SERVICE,
  someStatus,
  startControl,
  syncRequest,
} from './control-daemon.ts'

const neverAborted = new AbortController().signal

/** Resolves with the reason of an abort, which the test waits for instead of sleeping. */
function abortOf(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
  })
}

/** A process listens there and is killed. */
async function leaveSocket(path: string): Promise<void> {
  const program = `require('net').createServer().listen(process.argv[1], () => console.log('listens'))`
  const child = spawn(process.execPath, ['-e', program, path], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('the control socket', () => {
  test('is for its owner alone, wherever it lies', async () => {
    const stateDir = temporaryDirectory()
    const runtimeDir = temporaryDirectory()
    const { path } = await startControl(stateDir, {}, { XDG_RUNTIME_DIR: runtimeDir })
    expect(path).toMatch(new RegExp(`^${runtimeDir}/shelfd/[0-9a-f]{12}\\.sock$`))
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(lstatSync(join(runtimeDir, 'shelfd')).mode & 0o777).toBe(0o700)
    expect(lstatSync(join(stateDir, 'control')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(stateDir, 'control'), 'utf8')).toBe(`${path}\n`)
  })

  test("prefers the service manager's directory and closes it", async () => {
    const runtimeDir = join(temporaryDirectory(), 'run')
    mkdirSync(runtimeDir, { mode: 0o755 })
    const env = { RUNTIME_DIRECTORY: `${runtimeDir}:/nowhere`, XDG_RUNTIME_DIR: temporaryDirectory() }
    const { path } = await startControl(temporaryDirectory(), {}, env)
    expect(path.startsWith(`${runtimeDir}/`)).toBe(true)
    expect(lstatSync(runtimeDir).mode & 0o777).toBe(0o700)
  })

  test('lies in the state directory where nothing better is', async () => {
    const stateDir = temporaryDirectory()
    const { path } = await startControl(stateDir, {}, { XDG_RUNTIME_DIR: join(stateDir, 'absent') })
    expect(path.startsWith(`${stateDir}/`)).toBe(true)
  })

  test('passes over a runtime directory that is a link', async () => {
    const stateDir = temporaryDirectory()
    const runtimeDir = temporaryDirectory()
    symlinkSync(temporaryDirectory(), join(runtimeDir, 'shelfd'))
    const { path } = await startControl(stateDir, {}, { XDG_RUNTIME_DIR: runtimeDir })
    expect(path.startsWith(`${stateDir}/`)).toBe(true)
  })

  test('is found from a path too long for sockets', async () => {
    const stateDir = join(temporaryDirectory(), 'long'.repeat(30))
    mkdirSync(stateDir)
    const { path } = await startControl(stateDir)
    expect(Buffer.byteLength(path)).toBeLessThan(104)
    expect(await (await clientOf(stateDir)).status()).toEqual(someStatus)
  })

  test('replaces what a killed daemon left', async () => {
    const stateDir = temporaryDirectory()
    const { path, ...first } = await startControl(stateDir)
    await first[Symbol.asyncDispose]()
    await leaveSocket(path)
    writeFileSync(join(stateDir, 'control'), path)
    expect(lstatSync(path).isSocket()).toBe(true)
    expect(await connectToDaemon(stateDir)).toBeUndefined()
    await startControl(stateDir)
    expect(await (await clientOf(stateDir)).status()).toEqual(someStatus)
  })

  test('is gone with its note when the daemon ends', async () => {
    const stateDir = temporaryDirectory()
    const server = await startControl(stateDir)
    await server[Symbol.asyncDispose]()
    expect([existsSync(server.path), existsSync(join(stateDir, 'control'))]).toEqual([false, false])
    expect(await connectToDaemon(stateDir)).toBeUndefined()
  })
})

describe('a request', () => {
  test('brings each answer in its own shape', async () => {
    const stateDir = temporaryDirectory()
    const asked: unknown[] = []
    await startControl(stateDir, {
      pause: async (names) => void asked.push(names),
      resume: async (names) => void asked.push(names),
    })
    const client = await clientOf(stateDir)
    expect(await client.status()).toEqual(someStatus)
    expect(await client.retry([1, 2])).toBe(2)
    expect(await client.ignore([3])).toBe(1)
    expect(await client.reload()).toEqual({ mirrors: ['papers'] })
    expect(await client.library(SERVICE)).toMatchObject({ url: 'http://127.0.0.1:4711', token: 'secret' })
    await client.pause(['papers'])
    await client.resume([])
    expect(asked).toEqual([['papers'], []])
  })

  test('learns no library of another data directory', async () => {
    const stateDir = temporaryDirectory()
    await startControl(stateDir)
    expect(await (await clientOf(stateDir)).library('/elsewhere')).toBeNull()
  })

  test('throws the class that the daemon threw', async () => {
    const stateDir = temporaryDirectory()
    const errors: Error[] = [
      new TemporaryError('disk-full', 'no room'),
      new RejectedError('too-large', 'too large', 413),
      new Error('a fault'),
    ]
    const thrown = errors[Symbol.iterator]()
    await startControl(stateDir, { status: () => Promise.reject(thrown.next().value) })
    const client = await clientOf(stateDir)
    for (const error of errors) await expect(client.status()).rejects.toStrictEqual(error)
  })

  test('says that a daemon has ended meanwhile', async () => {
    const stateDir = temporaryDirectory()
    const server = await startControl(stateDir)
    const client = await clientOf(stateDir)
    await server[Symbol.asyncDispose]()
    await expect(client.status()).rejects.toMatchObject({ code: 'service-unreachable' })
  })

  test.each([
    ['an answer of another shape', 'HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\n{"pid":"none"}'],
    ['an error of another shape', 'HTTP/1.1 404 Not Found\r\nContent-Length: 15\r\n\r\n{"error":"none"}'],
    [
      'what a daemon of before HTTP says',
      '{"kind":"error","code":"invalid","message":"The request is not understood"}\n',
    ],
  ])('refuses %s', async (_, answer) => {
    const stateDir = temporaryDirectory()
    const path = join(stateDir, 'strange.sock')
    const server = createServer((socket) => socket.once('data', () => socket.end(answer))).listen(path)
    onTestFinished(() => void server.close())
    writeFileSync(join(stateDir, 'control'), path)
    const client = await clientOf(stateDir)
    await expect(client.status()).rejects.toMatchObject({
      code: 'answer-malformed',
      message: expect.stringMatching(/another version/),
    })
  })

  test('does not wait for a daemon that is stopped', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const stateDir = temporaryDirectory()
    const path = join(stateDir, 'stopped.sock')
    const asked = Promise.withResolvers<void>()
    const received: string[] = []
    const server = createServer((socket) =>
      socket.on('data', (bytes) => {
        received.push(String(bytes))
        asked.resolve()
      }),
    ).listen(path)
    onTestFinished(() => void server.close())
    writeFileSync(join(stateDir, 'control'), path)
    const pause = expect((await clientOf(stateDir)).pause(['papers'])).rejects.toMatchObject({ code: 'answer-late' })
    await asked.promise
    await vi.runAllTimersAsync()
    await pause
    // It was not told what to do: it does nothing later either.
    expect(received.join('')).not.toContain('papers')
  })
})

describe('a sync through the daemon', () => {
  test('shows its progress and gives its account', async () => {
    const stateDir = temporaryDirectory()
    const shown = createProgress()
    let isShown = () => {}
    const wasShown = new Promise<void>((resolve) => {
      isShown = resolve
    })
    await startControl(stateDir, {
      sync: async (request, { progress }) => {
        expect(request).toMatchObject(syncRequest)
        Object.assign(progress, { mirror: 'papers', phase: 'uploading', bytesSent: 5 })
        await wasShown
        return runResult(new HeldBackError('root-emptied', 'it is empty'))
      },
    })
    const watched = new Proxy(shown, {
      set: (target, key, value) => {
        if (key === 'bytesSent' && value === 5) isShown()
        return Reflect.set(target, key, value)
      },
    })
    const client = await clientOf(stateDir)
    const result = await client.sync(syncRequest, { fileLog: silentFileLog, signal: neverAborted, progress: watched })
    expect(shown).toMatchObject({ mirror: 'papers', phase: 'uploading', bytesSent: 5 })
    expect(result).toEqual(runResult(new HeldBackError('root-emptied', 'it is empty')))
    expect(result.failure).toBeInstanceOf(HeldBackError)
  })

  test('stops with the reason the client has', async () => {
    const stateDir = temporaryDirectory()
    const stop = new AbortController()
    await startControl(stateDir, {
      sync: async (_, { signal }) => {
        const aborted = abortOf(signal)
        stop.abort(new HeldBackError('limit-reached', 'long enough'))
        const reason = await aborted
        return runResult(reason instanceof ShelfdError ? reason : undefined)
      },
    })
    const client = await clientOf(stateDir)
    const { failure } = await client.sync(syncRequest, {
      fileLog: silentFileLog,
      signal: stop.signal,
      progress: createProgress(),
    })
    expect(failure).toStrictEqual(new HeldBackError('limit-reached', 'long enough'))
  })

  test('is aborted when the client is gone', async () => {
    const stateDir = temporaryDirectory()
    const begun = Promise.withResolvers<AbortSignal>()
    const { path } = await startControl(stateDir, {
      sync: async (_, { signal }) => {
        begun.resolve(signal)
        await abortOf(signal)
        return runResult()
      },
    })
    const socket = await openSocket(path)
    socket.write(rawRequest('POST /v1/syncs', JSON.stringify(syncRequest)))
    const signal = await begun.promise
    const aborted = abortOf(signal)
    socket.destroy()
    expect(await aborted).toMatchObject({ code: 'interrupted' })
  })

  test('ends with an answer when the daemon stops', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const stateDir = temporaryDirectory()
    const begun = Promise.withResolvers<void>()
    // More than a socket holds.
    const failure = new HeldBackError('limit-reached', 'x'.repeat(8 * 2 ** 20))
    const server = await startControl(stateDir, {
      sync: async (_, { signal }) => {
        begun.resolve()
        expect(await abortOf(signal)).toMatchObject({ message: 'The daemon stops' })
        await vi.advanceTimersByTimeAsync(20_000)
        return runResult(failure)
      },
    })
    const run = { fileLog: silentFileLog, signal: neverAborted, progress: createProgress() }
    const result = (await clientOf(stateDir)).sync(syncRequest, run)
    await begun.promise
    await server[Symbol.asyncDispose]()
    expect(await result).toEqual(runResult(failure))
  })

  test('is refused to a client of another service', async () => {
    const stateDir = temporaryDirectory()
    await startControl(stateDir, { sync: () => Promise.reject(new Error('must not run')) })
    const request = { ...syncRequest, service: 'https://elsewhere.example.com' }
    const run = (await clientOf(stateDir)).sync(request, {
      fileLog: silentFileLog,
      signal: neverAborted,
      progress: createProgress(),
    })
    await expect(run).rejects.toMatchObject({ reaction: 'refused', code: 'origin-mismatch' })
  })
})

describe('an error', () => {
  test.each(errorCodes.filter((code) => code !== 'unexpected'))('of the code %s comes back in its class', (code) => {
    const rebuilt = rebuildError(code, 'why')
    expect(rebuilt).toBeInstanceOf(ShelfdError)
    expect(rebuilt).toMatchObject({ code, message: 'why' })
  })

  test('without a code of ours is a plain one', () => {
    expect(rebuildError('unexpected', 'why')).toStrictEqual(new Error('why'))
  })
})
