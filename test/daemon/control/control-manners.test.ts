/** Clients of the control socket that send too much, too slowly, nothing, or nonsense. */
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { MAX_BODY_BYTES } from '../../../src/foundation/http/http-server.ts'
import { createProgress } from '../../../src/sync/progress.ts'
import { silentFileLog } from '../../../src/sync/sinks.ts'
import { temporaryDirectory } from '../../support/temporary.ts'
import {
  clientOf,
  openSocket,
  rawRequest,
  runResult,
  sendRaw,
  someStatus,
  startControl,
  syncRequest,
} from './control-daemon.ts'

const neverAborted = new AbortController().signal

describe('connections that misbehave', () => {
  const tooLong = 'x'.repeat(MAX_BODY_BYTES + 1)
  const dryRun = JSON.stringify({ ...syncRequest, options: { ...syncRequest.options, isDryRun: true } })
  test.each([
    ['a body that is not JSON', rawRequest('POST /v1/pause', '\u0000{]'), 400, 'invalid'],
    ['a body of another shape', rawRequest('POST /v1/pause', 'null'), 400, 'invalid'],
    ['a dry run', rawRequest('POST /v1/syncs', dryRun), 400, 'invalid'],
    ['a request of another version', rawRequest('GET /v2/status'), 404, 'store-locked'],
    ['a change by GET', rawRequest('GET /v1/pause'), 405, 'store-locked'],
    ['a body that is too long', rawRequest('POST /v1/pause', tooLong), 413, 'too-large'],
    [
      'a body that is too long and never ends',
      rawRequest('POST /v1/pause', tooLong, 2 * tooLong.length),
      413,
      'too-large',
    ],
  ])('%s is refused with an error code', async (_, bytes, status, code) => {
    const stateDir = temporaryDirectory()
    const { path } = await startControl(stateDir)
    expect(await sendRaw(path, bytes)).toEqual({ status, body: { error: expect.objectContaining({ code }) } })
    expect(await (await clientOf(stateDir)).status()).toEqual(someStatus)
  })

  test.each([
    ['a request that is not HTTP', '\u0000{]\n', 400],
    ['a request of a client older than HTTP', '{"version":2,"request":{"kind":"status"}}\n', 400],
    ['a header that is too long', `GET /v1/status HTTP/1.1\r\nX-Long: ${'x'.repeat(10_000)}\r\n\r\n`, 431],
  ])('%s is refused without a JSON answer', async (_, bytes, status) => {
    const stateDir = temporaryDirectory()
    const { path } = await startControl(stateDir)
    expect(await sendRaw(path, bytes)).toEqual({ status, body: undefined })
    expect(await (await clientOf(stateDir)).status()).toEqual(someStatus)
  })

  test.each([
    ['send nothing', ''],
    ['never end their headers', 'GET /v1/status HTTP/1.1\r\nHost: '],
    ['never end their body', 'POST /v1/pause HTTP/1.1\r\nHost: shelfd\r\nContent-Length: 9\r\n\r\n{'],
  ])('two hundred connections that %s keep no client out [F-PR-12]', async (_, bytes) => {
    const stateDir = temporaryDirectory()
    const { path } = await startControl(stateDir)
    const oldest = await openSocket(path)
    const closed = once(oldest.resume(), 'close')
    for (let count = 1; count < 200; count += 1) (await openSocket(path)).on('error', () => {}).write(bytes)
    await closed
    expect(await (await clientOf(stateDir)).status()).toEqual(someStatus)
  })

  test('two hundred idle connections do not end a running sync', async () => {
    const stateDir = temporaryDirectory()
    const begun = Promise.withResolvers<void>()
    const finish = Promise.withResolvers<void>()
    const sync = async () => {
      begun.resolve()
      await finish.promise
      return runResult()
    }
    const { path } = await startControl(stateDir, { sync })
    const run = { fileLog: silentFileLog, signal: neverAborted, progress: createProgress() }
    const result = (await clientOf(stateDir)).sync(syncRequest, run)
    await begun.promise
    for (let count = 0; count < 200; count += 1) await openSocket(path)
    finish.resolve()
    expect(await result).toEqual(runResult())
  })

  test.each([
    ['sends nothing', ''],
    ['does not end its headers', 'GET /v1/status HTTP/1.1\r\n'],
    ['does not end its body', 'POST /v1/pause HTTP/1.1\r\nHost: shelfd\r\nContent-Length: 9\r\n\r\n{'],
  ])('a connection that %s is closed after its time limit', async (_, bytes) => {
    const limits = { maxHeaderSize: 8_192, headersTimeout: 20, requestTimeout: 20, connectionsCheckingInterval: 10 }
    const { path } = await startControl(temporaryDirectory(), {}, {}, { limits })
    const socket = await openSocket(path)
    socket.write(bytes)
    socket.resume()
    if (!socket.closed) await once(socket, 'close')
  })

  test('an unfinished request does not delay the end of the daemon', async () => {
    const { path, ...server } = await startControl(temporaryDirectory())
    const socket = await openSocket(path)
    socket.write('GET /v1/status HTTP/1.1\r\nUnfinished: ')
    await server[Symbol.asyncDispose]()
    expect(existsSync(path)).toBe(false)
  })
})
