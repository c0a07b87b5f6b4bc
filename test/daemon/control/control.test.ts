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
  RequestError,
  rebuildError,
  ShelfdError,
  TemporaryError,
} from '../../../src/foundation/errors.ts'
import { createProgress } from '../../../src/sync/progress.ts'
import { type SentFile, silentFileLog } from '../../../src/sync/sinks.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import { clientOf, openSocket, rawRequest, runResult, someStatus, startControl, syncRequest } from './control-daemon.ts'

const neverAborted = new AbortController().signal

/** Resolves with the reason of an abort, which the test waits for instead of sleeping. */
function abortOf(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true })
  })
}

/** Starts a process that listens at `path`, and kills it, so that its socket stays. */
async function leaveSocket(path: string): Promise<void> {
  const program = `require('net').createServer().listen(process.argv[1], () => console.log('listens'))`
  const child = spawn(process.execPath, ['-e', program, path], { stdio: ['ignore', 'pipe', 'ignore'] })
  await once(child.stdout, 'data')
  child.kill('SIGKILL')
  await once(child, 'exit')
}

describe('the control socket', () => {
  test('only its owner may open the control socket [S-05, S-11]', async () => {
    const stateDir = temporaryDirectory()
    const runtimeDir = temporaryDirectory()
    const { path } = await startControl(stateDir, {}, { XDG_RUNTIME_DIR: runtimeDir })
    expect(path).toMatch(new RegExp(`^${runtimeDir}/shelfd/[0-9a-f]{12}\\.sock$`))
    expect(lstatSync(path).mode & 0o777).toBe(0o600)
    expect(lstatSync(join(runtimeDir, 'shelfd')).mode & 0o777).toBe(0o700)
    expect(lstatSync(join(stateDir, 'control')).mode & 0o777).toBe(0o600)
    expect(readFileSync(join(stateDir, 'control'), 'utf8')).toBe(`${path}\n`)
  })

  test("the service manager's runtime directory is preferred and made private", async () => {
    const runtimeDir = join(temporaryDirectory(), 'run')
    mkdirSync(runtimeDir, { mode: 0o755 })
    const env = { RUNTIME_DIRECTORY: `${runtimeDir}:/nowhere`, XDG_RUNTIME_DIR: temporaryDirectory() }
    const { path } = await startControl(temporaryDirectory(), {}, env)
    expect(path.startsWith(`${runtimeDir}/`)).toBe(true)
    expect(lstatSync(runtimeDir).mode & 0o777).toBe(0o700)
  })

  test('the control socket falls back to the state directory', async () => {
    const stateDir = temporaryDirectory()
    const { path } = await startControl(stateDir, {}, { XDG_RUNTIME_DIR: join(stateDir, 'absent') })
    expect(path.startsWith(`${stateDir}/`)).toBe(true)
  })

  test('a runtime directory that is a link is not used [S-11]', async () => {
    const stateDir = temporaryDirectory()
    const runtimeDir = temporaryDirectory()
    symlinkSync(temporaryDirectory(), join(runtimeDir, 'shelfd'))
    const { path } = await startControl(stateDir, {}, { XDG_RUNTIME_DIR: runtimeDir })
    expect(path.startsWith(`${stateDir}/`)).toBe(true)
  })

  test('the control socket is found from a long state directory', async () => {
    const stateDir = join(temporaryDirectory(), 'long'.repeat(30))
    mkdirSync(stateDir)
    const { path } = await startControl(stateDir)
    expect(Buffer.byteLength(path)).toBeLessThan(104)
    expect(await (await clientOf(stateDir)).status()).toEqual(someStatus)
  })

  test('a new daemon replaces the control socket of a killed one [F-PR-03]', async () => {
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

  test('a daemon that ends removes its socket and its path file', async () => {
    const stateDir = temporaryDirectory()
    const server = await startControl(stateDir)
    await server[Symbol.asyncDispose]()
    expect([existsSync(server.path), existsSync(join(stateDir, 'control'))]).toEqual([false, false])
    expect(await connectToDaemon(stateDir)).toBeUndefined()
  })
})

describe('requests of a client', () => {
  test('each request reaches its handler and returns its answer', async () => {
    const stateDir = temporaryDirectory()
    const asked: unknown[] = []
    await startControl(stateDir, {
      pause: async (names) => void asked.push(names),
      resume: async (names) => void asked.push(names),
    })
    const client = await clientOf(stateDir)
    expect(await client.status()).toEqual(someStatus)
    const place = { mirror: 'papers', path: 'a' }
    expect(await client.retry({ contentIds: [1, 2], paths: [place] })).toBe(3)
    expect(await client.ignore({ contentIds: [], paths: [place] })).toBe(1)
    const many = Array.from({ length: 150_000 }, (_, n) => n + 1_000_000)
    const failures = { contentIds: many, paths: Array.from({ length: 250 }, () => place) }
    expect([await client.retry(failures), await client.ignore(failures)], 'all').toEqual([150_250, 150_250])
    expect(await client.reload()).toEqual({ mirrors: ['papers'] })
    await client.pause(['papers'])
    await client.resume([])
    expect(asked).toEqual([['papers'], []])
  })

  test('the client throws the same error as the daemon', async () => {
    const stateDir = temporaryDirectory()
    const errors: Error[] = [
      new TemporaryError('disk-full', 'no room'),
      new RequestError('too-large', 'too large', 413),
      new Error('a fault'),
    ]
    const thrown = errors[Symbol.iterator]()
    await startControl(stateDir, { status: () => Promise.reject(thrown.next().value) })
    const client = await clientOf(stateDir)
    for (const error of errors) await expect(client.status()).rejects.toStrictEqual(error)
  })

  test('a request to an ended daemon fails as service-unreachable', async () => {
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
      'the answer of a daemon older than HTTP',
      '{"kind":"error","code":"invalid","message":"The request is not understood"}\n',
    ],
  ])('the client refuses %s as of another version', async (_, answer) => {
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

  test('a request to a stopped daemon times out without later effect', async () => {
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
    // The daemon never received the request's body, so it does nothing later either.
    expect(received.join('')).not.toContain('papers')
  })
})

describe('syncs through the daemon', () => {
  test('a client receives the progress and the result of its sync', async () => {
    const stateDir = temporaryDirectory()
    const shown = createProgress()
    let isShown = () => {}
    const wasShown = new Promise<void>((resolve) => {
      isShown = resolve
    })
    await startControl(stateDir, {
      sync: async (request, { progress }) => {
        expect(request).toMatchObject({ ...syncRequest, sync: expect.any(String) })
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

  test('a client learns the name of each sent file once, also of those just before the end', async () => {
    const stateDir = temporaryDirectory()
    const heard = Promise.withResolvers<void>()
    const file = (path: string) => ({ mirror: 'papers', path, sizeBytes: 1, resourceId: path, isDuplicate: false })
    await startControl(stateDir, {
      sync: async (_, { fileLog }) => {
        fileLog.sent(file('a'))
        fileLog.sent(file('b'))
        await heard.promise
        fileLog.sent(file('c'))
        return runResult()
      },
    })
    const names: string[] = []
    const sent = ({ path }: SentFile) => {
      if (names.push(path) === 2) heard.resolve()
    }
    const run = { fileLog: { ...silentFileLog, sent }, signal: neverAborted, progress: createProgress() }
    await (await clientOf(stateDir)).sync(syncRequest, run)
    expect(names).toEqual(['a', 'b', 'c'])
  })

  test('a client that stops its sync passes its reason on', async () => {
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

  test('a sync is aborted when its client disconnects', async () => {
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

  test('a sync returns its result when the daemon stops', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const stateDir = temporaryDirectory()
    const begun = Promise.withResolvers<void>()
    // Larger than the buffers of the socket.
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

  test('a client of another service may not start a sync', async () => {
    const stateDir = temporaryDirectory()
    await startControl(stateDir, { sync: () => Promise.reject(new Error('must not run')) })
    const request = { ...syncRequest, service: 'https://elsewhere.example.com' }
    const run = (await clientOf(stateDir)).sync(request, {
      fileLog: silentFileLog,
      signal: neverAborted,
      progress: createProgress(),
    })
    await expect(run).rejects.toMatchObject({ kind: 'access', code: 'origin-mismatch' })
  })
})

describe('errors over the control socket', () => {
  test.each(errorCodes.filter((code) => code !== 'unexpected'))('an error is rebuilt from its code %s', (code) => {
    const rebuilt = rebuildError(code, 'why')
    expect(rebuilt).toBeInstanceOf(ShelfdError)
    expect(rebuilt).toMatchObject({ code, message: 'why' })
  })

  test('an unexpected error is rebuilt as a plain Error', () => {
    expect(rebuildError('unexpected', 'why')).toStrictEqual(new Error('why'))
  })
})
