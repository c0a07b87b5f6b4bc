import { request } from 'node:http'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { findSocket } from '../../src/daemon/control/socket-file.ts'
import { CAREFUL_PASS } from '../../src/sync/pass.ts'
import { configure, isIdle, startDaemon } from '../support/daemon.ts'
import { mirrorOf } from '../support/engine.ts'
import { type Home, temporaryHome } from '../support/home.ts'
import { readLibrary } from '../support/library-contents.ts'

/** What a client asks of a real daemon that the command line would refuse. */

/** A daemon whose mirror "outer" holds the directory `inner`; all of it is sent. */
async function daemonHome(): Promise<{ home: Home; outer: string }> {
  const home = temporaryHome()
  const outer = home.write('outer', { 'o.md': 'outer', 'notes/n.md': 'notes' })
  configure(home, { mirrors: [{ name: 'outer', path: outer, settle: '0s' }] })
  const daemon = await startDaemon(home)
  await daemon.until('sent', isIdle)
  return { home, outer }
}

const NUMBERS = [
  ['limits', 'transfers', 'a whole number from 1 to 64', [0, 65, 1.5, 1e9]],
  ['limits', 'checkers', 'a whole number from 1 to 64', [0, 65, 1e9, '2']],
  ['limits', 'inIngestion', 'a whole number from 1 to 1000000', [0, 1_000_001]],
  ['limits', 'newPerRun', 'a whole number from 0 to 1000000000', [-1, 1e300]],
  ['limits', 'newPerDay', 'a whole number from 0 to 1000000000', [0.5, 1_000_000_001]],
  ['limits', 'newBytesPerRun', 'a whole number from 0 to 1125899906842624', [-1, 2 ** 51]],
  ['mirrors.0', 'maxSizeBytes', 'a whole number from 0 to 1125899906842624', [-1, 1.5, 2 ** 51]],
  ['mirrors.0', 'settleMs', 'a number from 0 to 315360000000', [-1, 1e300]],
  ['options', 'waitMs', 'a number from 0 to 315360000000', [-1, 1e300]],
] as const

test('a number beyond its bounds is refused with its key and bounds [S-25]', async () => {
  const { home, outer } = await daemonHome()
  const asked = syncOf(home, outer)
  for (const [place, key, bounds, values] of NUMBERS) {
    for (const value of values) {
      const [mirror] = asked.mirrors
      const input = {
        ...asked,
        limits: place === 'limits' ? { ...asked.limits, [key]: value } : asked.limits,
        options: place === 'options' ? { ...asked.options, [key]: value } : asked.options,
        mirrors: place === 'mirrors.0' ? [{ ...mirror, [key]: value }] : asked.mirrors,
      }
      const message = `Cannot read the request: ${place}.${key} must be ${bounds}`
      expect([key, value, await postToDaemon(home, '/v1/syncs', input)]).toEqual([
        key,
        value,
        { status: 400, body: { error: { code: 'invalid', message, status: 400 } } },
      ])
    }
  }
})

test('a sync inside a mirror of the daemon is refused [S-25]', async () => {
  const { home, outer } = await daemonHome()
  for (const path of [join(outer, 'notes'), outer, home.path]) {
    const { body } = await postToDaemon(home, '/v1/syncs', syncOf(home, path))
    expect([path, body]).toEqual([
      path,
      { error: { code: 'mirrors-overlap', message: expect.stringContaining('sent twice') } },
    ])
  }
  expect(readLibrary(home.dataDir)).toHaveLength(2)
})

test('a sync to a path with dots, or of a relative directory, is refused [S-24]', async () => {
  const { home } = await daemonHome()
  const path = home.write('elsewhere', { 'e.md': 'elsewhere' })
  const odd = [
    { remotePath: '/..' },
    { remotePath: '/a/../b' },
    { remotePath: 'a' },
    { path: 'elsewhere' },
    { path: `${path}/../outer/notes` },
    { name: '' },
    { library: '' },
  ]
  for (const mirror of odd) {
    const answer = await postToDaemon(home, '/v1/syncs', syncOf(home, path, { mirror }))
    const [key] = Object.keys(mirror)
    expect([mirror, answer]).toEqual([
      mirror,
      { status: 400, body: { error: expect.objectContaining({ message: expect.stringContaining(`0.${key} must`) }) } },
    ])
  }
})

/** The answer of the daemon. */
interface SocketResponse {
  readonly status: number
  readonly body: unknown
}

/** Sends a request to the control socket of a home's daemon, as any program with `curl` may. */
async function postToDaemon(home: Home, path: string, input: object): Promise<SocketResponse> {
  const socketPath = findSocket(home.stateDir)
  if (socketPath === undefined) throw new Error('The daemon has no socket')
  const body = JSON.stringify(input)
  const { promise, resolve, reject } = Promise.withResolvers<SocketResponse>()
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  request({ socketPath, path, method: 'POST', headers }, (answer) => {
    json(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject)
  })
    .on('error', reject)
    .end(body)
  return promise
}

/** A sync of one directory as shelfd's own client asks for it. */
function syncOf(home: Home, path: string, more: { readonly mirror?: object; readonly limits?: object } = {}) {
  return {
    sync: 'one',
    service: home.dataDir,
    mirrors: [
      mirrorOf(home.path, { name: 'asked-for', path, library: 'Asked for', remotePath: '/Asked for', ...more.mirror }),
    ],
    limits: {
      transfers: 4,
      checkers: 2,
      inIngestion: 200,
      newPerRun: null,
      newPerDay: null,
      newBytesPerRun: null,
      ...more.limits,
    },
    options: { waitMs: 0, ...CAREFUL_PASS },
  }
}
