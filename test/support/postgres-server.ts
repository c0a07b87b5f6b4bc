import { existsSync, globSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** The directory in which the first test that needs a PostgreSQL starts it, for all tests of a run. */
export const POSTGRES_VARIABLE = 'SHELFD_TEST_POSTGRES'

/** Where data is in memory, and room enough for some databases. */
const MEMORY = '/dev/shm'
const ROOM_BYTES = 1024 ** 3

/** Runs once before all tests; nothing is started unless a test needs it. Ends the servers after the last test. */
export default function setup(): () => Promise<void> {
  if (process.env[POSTGRES_VARIABLE]) return async () => {}
  const home = isRoomy(MEMORY) ? MEMORY : realpathSync(tmpdir())
  const directory = mkdtempSync(join(home, 'shelfd-postgres-'))
  process.env[POSTGRES_VARIABLE] = directory
  return async () => {
    for (const server of globSync(join(directory, '*', 'data'))) await stopServer(server)
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Ends it without waiting for its clients; it removes the file when it has ended. */
export async function stopServer(dataDirectory: string): Promise<void> {
  const pidFile = join(dataDirectory, 'postmaster.pid')
  if (!existsSync(pidFile)) return
  const pid = Number(readFileSync(pidFile, 'utf8').split('\n', 1)[0])
  process.kill(pid, 'SIGQUIT')
  for (let wait = 0; wait < 100 && isAlive(pid); wait += 1) await sleep(50)
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

function isRoomy(directory: string): boolean {
  try {
    mkdirSync(directory, { recursive: true })
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize > ROOM_BYTES
  } catch {
    return false
  }
}
