import { errorCodes } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import type { MirrorCounts } from '../../sync/reading/count-store.ts'
import type { MetricSet } from './metric-set.ts'

const FILE_STATES = {
  searchable: 'searchable',
  'without-text': 'withoutText',
  'in-ingestion': 'inIngestion',
  'to-send': 'toSend',
  sending: 'sending',
  'in-doubt': 'inDoubt',
  'needs-attention': 'needAttention',
  'set-aside': 'setAside',
} as const

const PROBLEM_CODES: ReadonlySet<string> = new Set([
  ...errorCodes,
  ...['ingestion-partial', 'ingestion-failed', 'ingestion-unknown'],
])

/** Registers gauges of the store's counts of the daemon's mirrors; the returned function reads and updates them. */
export function registerCounts(
  metrics: MetricSet,
  read: () => Promise<readonly MirrorCounts[]>,
): (status: DaemonStatus) => Promise<void> {
  const files = metrics.gauge('shelfd_files', 'Files of a mirror by their state.', 'mirror', 'state')
  const contents = metrics.gauge('shelfd_queue_contents', 'Contents that wait to be sent.', 'mirror')
  const bytes = metrics.gauge('shelfd_queue_bytes', 'Bytes of the contents that wait to be sent.', 'mirror')
  const directories = metrics.gauge('shelfd_queue_directories', 'Directories that are not created yet.', 'mirror')
  const problems = metrics.gauge('shelfd_problems', 'Paths and contents with a problem, by its code.', 'mirror', 'code')
  const helpOfOutcomes = 'Sent contents of present files, by the outcome of their ingestion.'
  const outcomes = metrics.gauge('shelfd_ingestion_contents', helpOfOutcomes, 'mirror', 'outcome')
  return async (status) => {
    const names = new Set(status.mirrors.map(({ name }) => name))
    const counts = (await read()).filter(({ name }) => names.has(name))
    for (const gauge of [files, contents, bytes, directories, problems, outcomes]) gauge.reset()
    for (const { name, queue, ...each } of counts) {
      const mirror = escapeText(name)
      for (const [state, key] of Object.entries(FILE_STATES)) files.set({ mirror, state }, each.files[key])
      contents.set({ mirror }, queue.contents)
      bytes.set({ mirror }, queue.bytes)
      directories.set({ mirror }, each.directoriesToMake)
      for (const [code, n] of each.problems) {
        problems.inc({ mirror, code: PROBLEM_CODES.has(code) ? code : 'other' }, n)
      }
      for (const [outcome, n] of Object.entries(each.outcomes)) outcomes.set({ mirror, outcome }, n)
    }
  }
}
