import { escapeText } from '../../../foundation/text/safe-text.ts'
import { formatSpan } from '../../../foundation/text/times.ts'
import type { DaemonStatus } from '../../../sync/continuous/daemon-status.ts'
import { describeStatus } from '../../../sync/continuous/describe-status.ts'

/** One line on the daemon and its service, and a second one when the service does not answer. */
export function describeDaemon(status: DaemonStatus, nowMs: number): readonly string[] {
  const { pid, startedAt, service } = status
  const head = `daemon: running for ${formatSpan(nowMs - startedAt)} (process ${pid}), ${escapeText(describeStatus(status))}`
  return service.reason ? [head, `  ! ${escapeText(service.reason.message)} [${service.reason.code}]`] : [head]
}
