import { type DaemonStanding, describeStanding, type MirrorStanding } from '../../daemon/standing.ts'
import { escapeText } from '../../foundation/text.ts'

/** One line: the daemon and its line to the service. */
export function showDaemon(standing: DaemonStanding, print: (line: string) => void): void {
  const { pid, startedAt, service } = standing
  print(`daemon: process ${pid} since ${isoTime(startedAt)}, ${escapeText(describeStanding(standing))}`)
  if (service.reason) print(`  ${escapeText(service.reason.message)} [${service.reason.code}]`)
}

/** What the daemon does for one mirror, as fields; what is not the case is left out. */
export function describeMirrorStanding(standing: MirrorStanding): Readonly<Record<string, string | undefined>> {
  const { state, reason, watcher, isWatchLimited, settling, missedByWatcher } = standing
  return {
    daemon: reason ? `${state}: ${reason.message} [${reason.code}]` : state,
    'watched by': isWatchLimited ? 'scans, as the system allows no more watches' : describeWatcher(watcher),
    settling: settling === 0 ? undefined : `${settling} files that changed a moment ago`,
    'missed by watcher': missedByWatcher === 0 ? undefined : String(missedByWatcher),
    'last scan': timeOrNone(standing.lastScanAt),
    'last success': timeOrNone(standing.lastSuccessAt),
    'next run': timeOrNone(standing.nextRunAt),
  }
}

function describeWatcher(watcher: MirrorStanding['watcher']): string | undefined {
  if (watcher === null) return undefined
  return watcher === 'poll' ? 'scans' : watcher
}

function timeOrNone(timeMs: number | null): string | undefined {
  return timeMs === null ? undefined : isoTime(timeMs)
}

function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString()
}
