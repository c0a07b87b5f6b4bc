import { writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { TLSSocket } from 'node:tls'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ledgerAddress } from '../../src/app/open-fleet.ts'
import type { FleetSettings } from '../../src/app/settings/settings.ts'
import { AccessError } from '../../src/foundation/errors.ts'
import { createRedactor } from '../../src/foundation/text/redaction.ts'
import { LedgerConnection } from '../../src/ledger/postgres/connection.ts'
import { reactToFailure } from '../../src/rules/react-to-failure.ts'
import { makeAuthority } from '../support/certificates.ts'
import { temporaryDirectory } from '../support/temporary.ts'

function settingsOf(port: number, more: Partial<FleetSettings> = {}): FleetSettings {
  const database = { host: '127.0.0.1', port, database: 'shelfd', user: 'shelfd' }
  return {
    ...({
      database,
      host: 'nas',
      leaseMs: 60_000,
      publish: 'names',
      passwordFile: undefined,
      passwordCommand: undefined,
    } as const),
    ...more,
  }
}

async function failureOf(fleet: FleetSettings): Promise<unknown> {
  const redactor = createRedactor()
  const address = ledgerAddress(fleet, { env: {}, cwd: '/', home: '/', redactor, signal: new AbortController().signal })
  await using connection = new LedgerConnection(address)
  return await connection.query('SELECT 1').catch((error: unknown) => error)
}

describe('the way to a ledger', () => {
  test('a password that is missing concerns the ledger, so that the service keeps its connection', async () => {
    const missing = join(temporaryDirectory(), 'password')
    const server = createServer((socket) => {
      // Asks for a password by SCRAM.
      const request = Buffer.concat([Buffer.from([0x52, 0, 0, 0, 23, 0, 0, 0, 10]), Buffer.from('SCRAM-SHA-256\0\0')])
      socket.on('data', () => socket.write(request))
    })
    const port = await listen(server)
    const error = await failureOf(settingsOf(port, { passwordFile: missing }))
    expect(error).toMatchObject({ code: 'ledger-refused', message: expect.stringContaining(missing) })
    if (error instanceof AccessError) expect(reactToFailure(error).scope).toBe('mirror')
  })

  test('a certificate for an address is verified, and no name is asked for', async () => {
    const authority = makeAuthority()
    const asked: unknown[] = []
    const server = createServer((socket) => {
      socket.once('data', () => {
        socket.write('S')
        const own = authority.issue({ names: ['127.0.0.1'] })
        const tls = new TLSSocket(socket, { isServer: true, ...own })
        tls.on('error', () => {})
        tls.once('data', () => {
          asked.push(tls.servername)
          tls.destroy()
        })
      })
    })
    const warnings: Error[] = []
    const onWarning = (warning: Error) => void warnings.push(warning)
    process.on('warning', onWarning)
    onTestFinished(() => void process.off('warning', onWarning))
    const port = await listen(server)
    expect(await failureOf(settingsOf(port, { caFile: authority.file }))).toMatchObject({ code: 'ledger-away' })
    expect(asked).toEqual([false])
    const other = join(temporaryDirectory(), 'other.pem')
    writeFileSync(other, makeAuthority('Another').issue({ names: ['127.0.0.1'] }).cert)
    expect(await failureOf(settingsOf(port, { caFile: other }))).toMatchObject({ code: 'ledger-refused' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  })
})

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  return typeof address === 'object' && address ? address.port : 0
}
