import { setTimeout as sleep } from 'node:timers/promises'
import { stringify } from 'yaml'
import { connectToDaemon } from '../../src/daemon/control/client/connect-to-daemon.ts'
import type { Figures } from '../../src/daemon/fleet-metrics.ts'
import type { DaemonMirrorStatus, DaemonStatus } from '../../src/sync/continuous/controller-status.ts'
import type { LedgerStatus } from '../../src/sync/fleet/ledger-monitor.ts'
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

const MAX_WAIT_MS = 60_000
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
export function attachDaemon(running: Running, stateDir: string, longestWaitMs = MAX_WAIT_MS): RunningDaemon {
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

/** A host whose ledger answers. */
export function ledgerStatus(change: Partial<LedgerStatus> = {}): LedgerStatus {
  return {
    ...{ state: 'connected', sinceMs: 1_795_000_000_500, reason: null, leaseLeftMs: 45_000, unsettled: 0 },
    ...change,
  }
}

/** What a ledger knows of three hosts, one of them in each state. */
export function fleetFigures(): Figures {
  const mirrors = { done: 1, busy: 0, warned: 0, stopped: 0 }
  const told = { publishedAt: null, sentInDay: 2, mirrors, waiting: 0, problems: 0, claims: 1 }
  const host = (id: number, isOpen: boolean, isSilent: boolean) => ({
    ...{ ...told, id, isOpen, isSilent, name: `host-${id}`, version: '1.2.3', seenAt: 1_795_000_000_000 },
  })
  const totals = { contents: 9, isAbout: false, claims: 3, doubts: 1, secondSends: 2, today: 6, leaseMs: 60_000 }
  return { hosts: [host(1, true, false), host(2, false, false), host(3, false, true)], totals }
}

/** A daemon that is well and has one mirror. */
export function daemonStatus(change: Partial<DaemonStatus> = {}): DaemonStatus {
  return {
    pid: 4711,
    startedAt: 1_795_000_000_000,
    service: { state: 'connected', sinceMs: 1_795_000_000_500, reason: null },
    ledger: null,
    isStoreFull: false,
    uploading: 0,
    inIngestion: 0,
    mirrors: [daemonMirrorStatus()],
    ...change,
  }
}
