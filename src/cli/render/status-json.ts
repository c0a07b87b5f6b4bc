import type { UsageError } from '../../foundation/errors.ts'
import { isoTime } from '../../foundation/text/times.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import type { Holders, ShownMirror } from './status-text.ts'

/** The object that `status --json` prints. */
export function statusJson(
  mirrors: readonly ShownMirror[],
  daemon: DaemonStatus | null,
  holders: Holders,
  error: UsageError | undefined,
) {
  return {
    mirrors,
    daemon: daemon && daemonStatusJson(daemon),
    holders,
    ...(error && { configurationError: { code: error.code, message: error.message } }),
  }
}

/** The keys of the status, with times in ISO 8601. */
export function daemonStatusJson({ startedAt, service, ledger, mirrors, ...status }: DaemonStatus) {
  const withTime = <T extends { readonly sinceMs: number }>({ sinceMs, ...state }: T) => ({
    ...state,
    since: isoTime(sinceMs),
  })
  return {
    ...status,
    startedAt: isoTime(startedAt),
    service: withTime(service),
    ledger: ledger && withTime(ledger),
    mirrors: mirrors.map((mirror) => ({
      ...mirror,
      lastScanAt: isoTime(mirror.lastScanAt),
      lastSuccessAt: isoTime(mirror.lastSuccessAt),
      nextRunAt: isoTime(mirror.nextRunAt),
      nextBatchAt: isoTime(mirror.nextBatchAt),
    })),
  }
}
