import type { DaemonMirrorStatus, DaemonStatus } from '../../src/sync/continuous/daemon-status.ts'

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
