/** Two servers of PostgreSQL for one test: a primary, and a standby that streams from it and can be promoted. */
import { execFile } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { freePort } from './free-port.ts'
import { createDatabaseOn, newServerData, runIn, runUnprivileged, type TestDatabase } from './postgres.ts'

export interface Replicated extends AsyncDisposable {
  /** On the primary; after a failover on the standby, at the same address. */
  readonly database: TestDatabase
  /** Stops the standby once it has all commits, so that it lacks the later ones. */
  stopStandby(): Promise<void>
  /** Ends the primary at once, or in good order, and promotes the standby in its place. */
  failOver(end?: 'immediate' | 'fast'): Promise<void>
}

/** Creates a database on a primary that has a standby; both servers are ended when it is disposed. */
export async function createReplicatedDatabase(): Promise<Replicated> {
  const { directory, programs, password } = await newServerData()
  const primary = join(directory, 'data')
  const [standbyDirectory, port, standbyPort] = [`${directory}-standby`, await freePort(), await freePort()]
  const standby = join(standbyDirectory, 'data')
  // As the server of PostgreSQL's user leaves it before its first start: the standby gets everything else from the log.
  mkdirSync(standbyDirectory)
  chmodSync(standbyDirectory, 0o777)
  appendFileSync(join(primary, 'postgresql.conf'), "listen_addresses = '127.0.0.1'\nunix_socket_directories = ''\n")
  await promisify(execFile)('cp', ['-a', primary, standbyDirectory])
  const source = `host=127.0.0.1 port=${port} user=postgres password=${password}`
  appendFileSync(join(standby, 'postgresql.conf'), `primary_conninfo = '${source}'\n`)
  writeFileSync(join(standby, 'standby.signal'), '')
  const control = async (data: string, ...args: readonly string[]) =>
    await runUnprivileged(join(programs, 'pg_ctl'), ['-D', data, '-w', '-l', join(data, 'log'), ...args])
  const start = async (data: string, on: number) => await control(data, 'start', '-o', `-p ${on}`)
  const [server, follower] = [
    { port, password },
    { port: standbyPort, password },
  ]
  await start(primary, port)
  await start(standby, standbyPort)
  const database = await createDatabaseOn(server)
  let isFollowing = true
  const stopStandby = async () => {
    if (!isFollowing) return
    isFollowing = false
    const [at] = await runIn(server, 'postgres', 'SELECT pg_current_wal_flush_lsn()::text AS lsn')
    for (let hasAll = false; !hasAll; await sleep(20)) {
      const text = 'SELECT pg_last_wal_replay_lsn() >= $1::pg_lsn AS has_all'
      hasAll = (await runIn(follower, 'postgres', text, [at?.lsn]))[0]?.has_all === true
    }
    await control(standby, 'stop', '-m', 'fast')
  }
  let current = primary
  return {
    database,
    stopStandby,
    failOver: async (end = 'immediate') => {
      // A primary that ends in good order waits until its standby has all of it.
      await control(primary, 'stop', '-m', end)
      if (isFollowing) await control(standby, 'stop', '-m', 'fast')
      isFollowing = false
      current = standby
      await start(standby, port)
      await control(standby, 'promote')
    },
    [Symbol.asyncDispose]: async () => {
      await control(current, 'stop', '-m', 'immediate')
      if (isFollowing) await control(standby, 'stop', '-m', 'immediate')
    },
  }
}
