import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { expect, onTestFinished, test, vi } from 'vitest'
import { z } from 'zod'
import { AccessError } from '../../src/foundation/errors.ts'
import type { LedgerAddress } from '../../src/ledger/postgres/address.ts'
import { connect } from '../../src/ledger/postgres/connection.ts'
import { makeSelfSigned } from '../support/certificates.ts'

const PASSWORD = 'canary-password'
/** Of AuthenticationOk, CleartextPassword, MD5Password and SASL, with what follows the number. */
const REQUESTS = { ok: [0, ''], clear: [3, ''], md5: [5, 'salt'], scram: [10, 'SCRAM-SHA-256\0\0'] } as const
/** ReadyForQuery */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/** Another program at the port of PostgreSQL, which answers each message of the client with the next of these requests. */
async function startThief(requests: readonly (keyof typeof REQUESTS)[]): Promise<{ port: number; heard(): string }> {
  const heard: Buffer[] = []
  const speak = (socket: Socket) => {
    const left = [...requests]
    socket.on('error', () => {})
    socket.on('data', (bytes: Buffer) => {
      heard.push(bytes)
      const next = left.shift()
      if (next !== undefined) socket.write(message(REQUESTS[next]))
      if (next === 'ok') socket.write(READY)
    })
  }
  return { port: await listen(speak), heard: () => Buffer.concat(heard).toString('latin1') }
}

function message([kind, text]: readonly [number, string]): Buffer {
  const head = Buffer.alloc(9)
  head.write('R')
  head.writeInt32BE(8 + text.length, 1)
  head.writeInt32BE(kind, 5)
  return Buffer.concat([head, Buffer.from(text)])
}

async function listen(onSocket: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    onSocket(socket)
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return z.object({ port: z.int() }).parse(server.address()).port
}

function addressOf(port: number, more: Partial<LedgerAddress> = {}): LedgerAddress {
  const place = { host: '127.0.0.1', port, database: 'shelfd', user: 'nas' }
  return { ...place, tls: false, callTimeoutMs: 10_000, password: async () => PASSWORD, ...more }
}

async function expectUnsafe(address: LedgerAddress, why: RegExp): Promise<void> {
  const error = await connect(address).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(AccessError)
  expect(error).toMatchObject({ code: 'ledger-refused', message: expect.stringMatching(why) })
}

test.each([
  ['in the clear', ['clear']],
  ['by MD5', ['md5']],
  ['in the clear, after it began with SCRAM', ['scram', 'clear']],
] as const)('a server that asks for the password %s gets nothing [S-29]', async (_, requests) => {
  const thief = await startThief(requests)
  await expectUnsafe(addressOf(thief.port), /asks for the password in clear text or by MD5\. .*scram-sha-256/)
  expect(thief.heard()).not.toContain(PASSWORD)
  expect(thief.heard()).not.toContain('md5')
})

test.each([
  ['asks for none', ['ok']],
  ['leaves SCRAM before its proof', ['scram', 'ok']],
] as const)('a server that %s is asked nothing, where a password is named [S-29]', async (_, requests) => {
  const thief = await startThief(requests)
  await expectUnsafe(addressOf(thief.port), /did not prove that it knows the password/)
  expect(thief.heard()).not.toContain('SELECT')
})

test('no password of the environment goes to a server that asks for one [S-29]', async () => {
  const thief = await startThief(['clear'])
  vi.stubEnv('PGPASSWORD', PASSWORD)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { password: _, ...address } = addressOf(thief.port)
  await expectUnsafe(address, /asks for the password in clear text/)
  await expectUnsafe({ ...address, port: (await startThief(['scram'])).port }, /"fleet\.passwordFile"/)
  expect(thief.heard()).not.toContain(PASSWORD)
})

test('a certificate that nobody vouches for gets no password, whatever the environment says [S-02]', async () => {
  const heard: Buffer[] = []
  const port = await listen((socket) => {
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.write('S')
      const secure = new TLSSocket(socket, { isServer: true, ...makeSelfSigned('localhost') })
      secure.on('error', () => {}).on('data', (bytes) => void heard.push(bytes))
    })
  })
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
  onTestFinished(() => void vi.unstubAllEnvs())
  await expectUnsafe(addressOf(port, { host: 'localhost', tls: {} }), /No safe connection .*self-signed/)
  expect(heard).toEqual([])
})

test('a fault of this program is not taken for a ledger that is away', async () => {
  const thief = await startThief(['scram'])
  const fault = new TypeError('not a function')
  const password = () => Promise.reject(fault)
  await expect(connect(addressOf(thief.port, { password, tls: false }))).rejects.toBe(fault)
})
