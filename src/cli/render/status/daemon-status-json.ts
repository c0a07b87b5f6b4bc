import type { DaemonStatus } from '../../../sync/continuous/daemon-status.ts'

/** The daemon's status for scripts: the same keys, times in ISO 8601. */
export function daemonStatusJson({ startedAt, service, mirrors, ...status }: DaemonStatus) {
  const { sinceMs, ...line } = service
  return {
    ...status,
    startedAt: isoTime(startedAt),
    service: { ...line, since: isoTime(sinceMs) },
    mirrors: mirrors.map((mirror) => ({
      ...mirror,
      lastScanAt: isoOrNull(mirror.lastScanAt),
      lastSuccessAt: isoOrNull(mirror.lastSuccessAt),
      nextRunAt: isoOrNull(mirror.nextRunAt),
    })),
  }
}

function isoOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : isoTime(timeMs)
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
}
