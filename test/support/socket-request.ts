import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { findSocket } from '../../src/daemon/control/socket-file.ts'
import type { MirrorSettings } from '../../src/sync/engine.ts'
import { CAREFUL_PASS } from '../../src/sync/pass.ts'
import type { Home } from './home.ts'

/** The answer of the daemon: its status, and the JSON of its lines. */
export interface SocketAnswer {
  readonly status: number
  readonly lines: readonly Record<string, unknown>[]
}

/** Sends a request to the control socket of a home's daemon, as any program with `curl` may. */
export async function postToDaemon(home: Home, path: string, input: object): Promise<SocketAnswer> {
  const socketPath = findSocket(home.stateDir)
  if (socketPath === undefined) throw new Error('The daemon has no socket')
  const body = JSON.stringify(input)
  const { promise, resolve, reject } = Promise.withResolvers<SocketAnswer>()
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  request({ socketPath, path, method: 'POST', headers }, (answer) => {
    text(answer).then((whole) => {
      const lines = whole.split('\n').filter((line) => line !== '')
      resolve({ status: answer.statusCode ?? 0, lines: lines.map((line) => JSON.parse(line)) })
    }, reject)
  })
    .on('error', reject)
    .end(body)
  return promise
}

/** A sync of one directory as shelfd's own client asks for it. */
export function syncOf(home: Home, path: string, more: { readonly mirror?: object; readonly limits?: object } = {}) {
  return {
    service: home.dataDir,
    mirrors: [
      {
        name: 'asked-for',
        path,
        library: 'Asked for',
        mayCreateLibrary: true,
        remotePath: '/Asked for',
        ignore: [],
        maxSizeBytes: null,
        oneFileSystem: false,
        emptyFiles: 'upload',
        settleMs: 0,
        isAdHoc: true,
        breadth: null,
        duplicates: 'skip',
        ...more.mirror,
      } satisfies MirrorSettings,
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
    namesFiles: false,
  }
}
