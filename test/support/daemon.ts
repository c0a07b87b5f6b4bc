import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { connectToDaemon } from '../../src/daemon/control/connect-to-daemon.ts'
import type { DaemonStanding, MirrorStanding } from '../../src/daemon/standing.ts'
import type { Home, Outcome, Variables } from './home.ts'
import { type Running, runShelfd } from './run-shelfd.ts'

const LONGEST_WAIT_MS = 60_000
const POLL_MS = 50

/** A real daemon in a process of its own; it is killed with the test at the latest. */
export interface RunningDaemon extends Running {
  standing(): Promise<DaemonStanding>
  /** Waits until the daemon stands so, at most a minute. */
  until(what: string, isSo: (standing: DaemonStanding) => boolean): Promise<DaemonStanding>
  /** Ends it as a service manager does. */
  stop(): Promise<Outcome>
}

/** Writes the configuration file of a home, beside what its environment says. */
export function configure(home: Home, config: Readonly<Record<string, unknown>>): void {
  home.write('config/shelfd', { 'config.yaml': stringify(config) })
}

/** Starts `shelfd daemon` and waits until it answers. */
export async function startDaemon(home: Home, env: Variables = {}): Promise<RunningDaemon> {
  const running = runShelfd(['daemon'], { env: { ...home.env, ...env }, cwd: home.path })
  const { child } = running
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
  const standing = async () => {
    const client = await connectToDaemon(home.stateDir)
    if (!client) throw new Error('The daemon does not answer')
    return client.status()
  }
  const until = async (what: string, isSo: (standing: DaemonStanding) => boolean) => {
    let last: DaemonStanding | undefined
    const isOver = new AbortController()
    const ended = running.ended.then(() => isOver.abort())
    const endMs = performance.now() + LONGEST_WAIT_MS
    while (!isOver.signal.aborted && performance.now() < endMs) {
      last = await standing().catch(() => last)
      if (last && isSo(last)) return last
      await sleep(POLL_MS, undefined, { signal: isOver.signal }).catch(() => {})
    }
    child.kill('SIGTERM')
    const { stderr, exitCode } = await running.ended
    await ended
    throw new Error(`Waited in vain for: ${what}; exit ${exitCode}, ${JSON.stringify(last, null, 1)}\n${stderr}`)
  }
  await until('answering', () => true)
  return { ...running, standing, until, stop: () => stopProcess(running) }
}

async function stopProcess({ child, ended }: Running): Promise<Outcome> {
  child.kill('SIGTERM')
  return ended
}

/** Nothing is left to do for any mirror, and all that was sent is final. */
export function isQuiet({ mirrors, uploading, inIngestion }: DaemonStanding): boolean {
  return uploading === 0 && inIngestion === 0 && mirrors.every(isMirrorQuiet)
}

function isMirrorQuiet({ state, settling, lastScanAt }: MirrorStanding): boolean {
  return state === 'idle' && settling === 0 && lastScanAt !== null
}
