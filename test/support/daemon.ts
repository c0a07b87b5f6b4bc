import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { connectToDaemon } from '../../src/daemon/control/client/connect-to-daemon.ts'
import type { DaemonMirrorStatus, DaemonStatus } from '../../src/sync/continuous/controller-status.ts'
import type { Home, Outcome, Variables } from './home.ts'
import type { Running } from './run-shelfd.ts'

/** Writes the configuration file of a home; its environment adds further settings. */
export function configure(home: Home, config: Readonly<Record<string, unknown>>): void {
  home.write('config/shelfd', { 'config.yaml': stringify(config) })
}

/** Starts `shelfd daemon`, which lives no longer than the test, and waits until it answers; `launcher` is a program that becomes it. */
export async function startDaemon(
  home: Home,
  env: Variables = {},
  launcher: readonly string[] = [],
): Promise<RunningDaemon> {
  const daemon = attachDaemon(home.start(['daemon'], { env, launcher }), home.stateDir)
  await daemon.until('answering', () => true)
  return daemon
}

const LONGEST_WAIT_MS = 60_000
const POLL_MS = 50

/** A real daemon in a process of its own. */
export interface RunningDaemon extends Running {
  status(): Promise<DaemonStatus>
  /** Waits until the daemon stands so. */
  until(what: string, isSo: (status: DaemonStatus) => boolean): Promise<DaemonStatus>
  /** Ends it as a service manager does. */
  stop(): Promise<Outcome>
}

/** The daemon of a state directory, as soon as it answers there; waiting for anything ends after `longestWaitMs`. */
export function attachDaemon(running: Running, stateDir: string, longestWaitMs = LONGEST_WAIT_MS): RunningDaemon {
  const status = async () => {
    const client = await connectToDaemon(stateDir)
    if (!client) throw new Error('The daemon does not answer')
    return client.status()
  }
  const until = async (what: string, isSo: (status: DaemonStatus) => boolean) => {
    let last: DaemonStatus | undefined
    const isOver = new AbortController()
    const ended = running.ended.then(() => isOver.abort())
    const endMs = performance.now() + longestWaitMs
    while (!isOver.signal.aborted && performance.now() < endMs) {
      last = await status().catch(() => last)
      if (last && isSo(last)) return last
      await sleep(POLL_MS, undefined, { signal: isOver.signal }).catch(() => {})
    }
    running.child.kill('SIGTERM')
    const { stderr, exitCode } = await running.ended
    await ended
    throw new Error(`Waited in vain for: ${what}; exit ${exitCode}, ${JSON.stringify(last, null, 1)}\n${stderr}`)
  }
  return { ...running, status, until, stop: () => stopProcess(running) }
}

async function stopProcess({ child, ended }: Running): Promise<Outcome> {
  child.kill('SIGTERM')
  return ended
}

/** Nothing is left to do for any mirror, and all that was sent is final. */
export function isIdle({ mirrors, uploading, inIngestion }: DaemonStatus): boolean {
  return uploading === 0 && inIngestion === 0 && mirrors.every(isMirrorSettled)
}

function isMirrorSettled({ state, settling, lastScanAt }: DaemonMirrorStatus): boolean {
  return state === 'idle' && settling === 0 && lastScanAt !== null
}

/** A mirror that is well and has nothing to do. */
export function daemonMirrorStatus(change: Partial<DaemonMirrorStatus> = {}): DaemonMirrorStatus {
  return {
    name: 'Papers',
    path: '/home/ada/Papers',
    state: 'idle',
    reason: null,
    watcher: 'node',
    isWatchLimited: false,
    settling: 0,
    missedByWatcher: 0,
    lastScanAt: 1_795_000_100_000,
    lastSuccessAt: 1_795_000_200_000,
    nextRunAt: 1_795_003_700_000,
    nextBatchAt: null,
    ...change,
  }
}

/** A daemon that is well and has one mirror. */
export function daemonStatus(change: Partial<DaemonStatus> = {}): DaemonStatus {
  return {
    pid: 4711,
    startedAt: 1_795_000_000_000,
    service: { state: 'connected', sinceMs: 1_795_000_000_500, reason: null },
    isStoreFull: false,
    uploading: 0,
    inIngestion: 0,
    mirrors: [daemonMirrorStatus()],
    ...change,
  }
}
