import pg from 'pg'
import { Mutex } from '../../foundation/concurrency/mutex.ts'
import { onAbort } from '../../foundation/concurrency/waits.ts'
import { OperatorError } from '../../foundation/errors.ts'
import type { LedgerAddress } from './address.ts'
import { explainFailure, unsafeServer } from './explain-failure.ts'
import { SCHEMA_VERSION } from './schema-version.ts'

const KEEP_ALIVE_MS = 10_000
/** Once the program is to end, a call may take this long: enough to settle and to close the session. */
const LAST_CALL_MS = 2_000
const LEAVE_MS = 500

/**
 * A connection to a ledger. It opens with the first query, and opens again after it broke. Queries are single statements, so that a pooler
 * may give each to another server process. Queries throw as explainFailure says, and OperatorError for an unusable schema.
 */
export class LedgerConnection implements AsyncDisposable {
  readonly #address: LedgerAddress
  readonly #turn = new Mutex()
  #client: pg.Client | undefined
  #isDisposed = false

  constructor(address: LedgerAddress) {
    this.#address = address
  }

  async query<R extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []): Promise<R[]> {
    using _turn = await this.#turn.lock()
    if (this.#isDisposed) throw new Error('The connection to the ledger was closed')
    this.#client ??= await this.#connect()
    const client = this.#client
    try {
      return (await beforeEnd(client.query<R>(text, [...values]), this.#address)).rows
    } catch (error) {
      // After an error that PostgreSQL did not report, a late answer could be taken for that of the next query.
      if (!(error instanceof pg.DatabaseError)) await this.#close()
      throw explainFailure(error, this.#address)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    using _turn = await this.#turn.lock()
    await this.#close()
  }

  async #connect(): Promise<pg.Client> {
    const client = await connect(this.#address)
    try {
      const found = await beforeEnd(
        client.query<{ o_schema: number }>('SELECT * FROM shelfd.ledger_1()'),
        this.#address,
      )
      checkSchema(found.rows[0]?.o_schema ?? 0, this.#address)
    } catch (error) {
      await end(client)
      throw explainFailure(error, this.#address)
    }
    client.once('end', () => {
      if (this.#client === client) this.#client = undefined
    })
    return client
  }

  async #close(): Promise<void> {
    const client = this.#client
    this.#client = undefined
    if (client) await end(client)
  }
}

/** Connects; throws as explainFailure says. Only a server with a checked certificate, or proved by SCRAM, gets the password. */
export async function connect(address: LedgerAddress): Promise<pg.Client> {
  const lacksPassword = async () => {
    throw unsafeServer(address, 'asks for a password. Name its file in "fleet.passwordFile"')
  }
  const client = new pg.Client({
    host: address.host,
    port: address.port,
    database: address.database,
    user: address.user,
    // Without a function here, pg would take a password from the environment or from ~/.pgpass.
    password: address.password ?? lacksPassword,
    ssl: address.tls && { ...address.tls, rejectUnauthorized: true },
    application_name: 'shelfd',
    connectionTimeoutMillis: address.callTimeoutMs,
    query_timeout: address.callTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
  })
  // A running query fails with this error anyway; if none runs, 'end' resets the connection.
  client.on('error', () => {})
  const server = address.tls ? { isProved: true } : watchServer(client, address)
  try {
    await beforeEnd(client.connect(), address)
    if (address.password && !server.isProved) throw unsafeServer(address, UNPROVED)
    return client
  } catch (error) {
    await end(client)
    throw explainFailure(error, address)
  }
}

const UNPROVED =
  'did not prove that it knows the password. Use scram-sha-256 in pg_hba.conf; if the server trusts this host, configure no password'
const IN_THE_CLEAR =
  'asks for the password in clear text or by MD5. Use scram-sha-256 in pg_hba.conf, or encrypt the connection: set "fleet.caFile" to the authority of its certificate'

/** Checks how a server asks for the password over a connection that is not encrypted, before pg answers. */
function watchServer({ connection }: pg.Client, address: LedgerAddress): { readonly isProved: boolean } {
  const server = { isProved: false }
  const refuse = () => connection.stream.destroy(unsafeServer(address, IN_THE_CLEAR))
  connection.on('authenticationCleartextPassword', refuse)
  connection.on('authenticationMD5Password', refuse)
  // pg ends the connection if the proof is wrong.
  connection.on('authenticationSASLFinal', () => {
    server.isProved = true
  })
  return server
}

/** Awaits the call. Once `signal` is aborted, the call has LAST_CALL_MS left; then the reason of the signal is thrown. */
async function beforeEnd<T>(call: Promise<T>, { signal }: LedgerAddress): Promise<T> {
  if (!signal) return await call
  const { promise: isOver, reject } = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  const limit = () => {
    timer = setTimeout(() => reject(signal.reason), LAST_CALL_MS)
  }
  using _ending = onAbort(signal, limit)
  if (signal.aborted) limit()
  try {
    return await Promise.race([call, isOver])
  } finally {
    clearTimeout(timer)
  }
}

/** Closes the connection; waits for LEAVE_MS at most, because the server may hang. */
async function end(client: pg.Client): Promise<void> {
  const timer = setTimeout(() => client.connection.stream.destroy(), LEAVE_MS)
  await client.end().catch(() => {})
  clearTimeout(timer)
}

/** The schema of version N serves programs of N and N−1. */
function checkSchema(schema: number, address: LedgerAddress): void {
  const where = `The ledger in database "${address.database}"`
  if (schema < SCHEMA_VERSION) {
    throw new OperatorError(
      'ledger-unusable',
      `${where} has schema ${schema}, and this program needs ${SCHEMA_VERSION}: bring it up to date by "shelfd fleet upgrade"`,
    )
  }
  if (schema > SCHEMA_VERSION + 1) {
    throw new OperatorError(
      'ledger-newer',
      `${where} has schema ${schema}, and this program knows up to ${SCHEMA_VERSION + 1}: install a newer shelfd on this host`,
    )
  }
}
