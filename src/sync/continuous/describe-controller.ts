import { counted } from '../../foundation/text/safe-text.ts'
import { formatTime } from '../../foundation/text/times.ts'
import type { DaemonMirrorStatus } from './daemon-status.ts'

/** The daemon's work for one mirror, as fields; those that do not apply are undefined. */
export function describeController(
  status: DaemonMirrorStatus,
  nowMs: number,
): Readonly<Record<string, string | undefined>> {
  const { isWatchLimited, watcher, settling, missedByWatcher } = status
  const time = (timeMs: number | null) => (timeMs === null ? undefined : formatTime(timeMs, nowMs))
  return {
    watching: isWatchLimited ? 'no, scanning instead: the system allows no more watches' : describeWatcher(watcher),
    settling: settling === 0 ? undefined : `${counted(settling, 'file')} changed a moment ago`,
    'missed by the watcher': missedByWatcher === 0 ? undefined : counted(missedByWatcher, 'change'),
    'last full scan': time(status.lastScanAt),
    'all sent': time(status.lastSuccessAt),
    'next full scan': time(status.nextRunAt),
  }
}

/** Names of the systems' own watchers, such as `inotify`. */
const OF_SYSTEM: Readonly<Record<string, string>> = {
  linux: 'inotify',
  darwin: 'FSEvents',
  win32: 'ReadDirectoryChangesW',
}

function describeWatcher(watcher: DaemonMirrorStatus['watcher']): string | undefined {
  if (watcher === null) return undefined
  if (watcher === 'poll') return 'no, scanning instead'
  if (watcher === 'chokidar') return watcher
  return OF_SYSTEM[process.platform] ?? watcher
}
