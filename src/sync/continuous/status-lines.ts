import { counted } from '../../foundation/text/safe-text.ts'
import { formatTime } from '../../foundation/text/times.ts'
import type { DaemonMirrorStatus, DaemonStatus } from './controller-status.ts'

/** One line for people, shown by the service manager. */
export function describeStatus({ service, mirrors, uploading, inIngestion, isStoreFull }: DaemonStatus): string {
  const troubled = mirrors.filter(({ state }) => state === 'halted')
  const parts = [
    `${mirrors.length} ${mirrors.length === 1 ? 'mirror' : 'mirrors'}`,
    troubled.length > 0 ? `halted: ${troubled.map(({ name }) => name).join(', ')}` : '',
    isStoreFull ? 'the disk of the store is full' : '',
    service.state === 'away' ? 'the service is away' : '',
    service.state === 'refused' ? 'the credential was refused' : '',
    uploading > 0 ? `${uploading} uploading` : '',
    inIngestion > 0 ? `${inIngestion} in ingestion` : '',
  ]
  return parts.filter((part) => part !== '').join(', ')
}

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
