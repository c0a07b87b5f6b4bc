import { describeStanding } from '../../daemon/describe-standing.ts'
import type { DaemonStanding, MirrorStanding } from '../../daemon/standing.ts'
import { counted, escapeText } from '../../foundation/text.ts'
import { formatSpan, formatTime } from './times.ts'

/** One line on the daemon and its service, and a second one when the service does not answer. */
export function describeDaemon(standing: DaemonStanding, nowMs: number): readonly string[] {
  const { pid, startedAt, service } = standing
  const head = `daemon: running for ${formatSpan(nowMs - startedAt)} (process ${pid}), ${escapeText(describeStanding(standing))}`
  return service.reason ? [head, `  ! ${escapeText(service.reason.message)} [${service.reason.code}]`] : [head]
}

/** What the daemon does for one mirror, as fields; what is not the case is left out. */
export function describeMirrorStanding(
  standing: MirrorStanding,
  nowMs: number,
): Readonly<Record<string, string | undefined>> {
  const { isWatchLimited, watcher, settling, missedByWatcher } = standing
  const time = (timeMs: number | null) => (timeMs === null ? undefined : formatTime(timeMs, nowMs))
  return {
    watching: isWatchLimited ? 'no, scanning instead: the system allows no more watches' : describeWatcher(watcher),
    settling: settling === 0 ? undefined : `${counted(settling, 'file')} changed a moment ago`,
    'missed by the watcher': missedByWatcher === 0 ? undefined : counted(missedByWatcher, 'change'),
    'last full scan': time(standing.lastScanAt),
    'all sent': time(standing.lastSuccessAt),
    'next full scan': time(standing.nextRunAt),
  }
}

/** What the system offers under the names of the back ends: `inotify`. */
const OF_SYSTEM: Readonly<Record<string, string>> = {
  linux: 'inotify',
  darwin: 'FSEvents',
  win32: 'ReadDirectoryChangesW',
}

function describeWatcher(watcher: MirrorStanding['watcher']): string | undefined {
  if (watcher === null) return undefined
  if (watcher === 'poll') return 'no, scanning instead'
  if (watcher === 'chokidar') return watcher
  return OF_SYSTEM[process.platform] ?? watcher
}
