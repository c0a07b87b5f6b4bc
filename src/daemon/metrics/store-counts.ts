import type { Registry } from 'prom-client'
import type { Clock } from '../../foundation/clock.ts'
import { errorCodes } from '../../foundation/errors.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type { Store } from '../../store/open-store.ts'
import type { DaemonStatus } from '../../sync/continuous/controller-status.ts'
import { cachedReading } from './cached-reading.ts'
import { countInThread } from './count-in-thread.ts'
import type { MirrorCounts } from './count-store.ts'
import { makeGauge } from './make.ts'

type Show = (mirror: string, counts: MirrorCounts) => void

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

/**
 * Registers gauges of the store's counts of the daemon's mirrors. Counts are cached for a hundred times as long as counting
 * took, so that frequent scrapes of a large tree cost little.
 */
export function registerCounts(
  registry: Registry,
  source: { readonly store: Pick<Store, 'directory'>; readonly clock: Clock },
): (status: DaemonStatus) => Promise<void> {
  const groups = [
    registerFiles(registry),
    registerQueue(registry),
    registerProblems(registry),
    registerOutcomes(registry),
  ]
  const read = cachedReading(() => countInThread(source.store.directory), source.clock)
  return async ({ mirrors }) => {
    const names = new Set(mirrors.map(({ name }) => name))
    const counts = (await read()).filter(({ name }) => names.has(name))
    for (const { reset, show } of groups) {
      reset()
      for (const each of counts) show(escapeText(each.name), each)
    }
  }
}

function registerFiles(registry: Registry): { reset(): void; show: Show } {
  const files = makeGauge(registry, 'shelfd_files', 'Files of a mirror by their state.', ['mirror', 'state'])
  const show: Show = (mirror, counts) => {
    for (const [state, key] of Object.entries(FILE_STATES)) files.set({ mirror, state }, counts.files[key])
  }
  return { reset: () => files.reset(), show }
}

function registerQueue(registry: Registry): { reset(): void; show: Show } {
  const contents = makeGauge(registry, 'shelfd_queue_contents', 'Contents that wait to be sent.', ['mirror'])
  const bytes = makeGauge(registry, 'shelfd_queue_bytes', 'Bytes of the contents that wait to be sent.', ['mirror'])
  const directories = makeGauge(registry, 'shelfd_queue_directories', 'Directories that are not created yet.', [
    'mirror',
  ])
  const reset = () => {
    for (const gauge of [contents, bytes, directories]) gauge.reset()
  }
  const show: Show = (mirror, { queue, directoriesToMake }) => {
    contents.set({ mirror }, queue.contents)
    bytes.set({ mirror }, queue.bytes)
    directories.set({ mirror }, directoriesToMake)
  }
  return { reset, show }
}

function registerProblems(registry: Registry): { reset(): void; show: Show } {
  const gauge = makeGauge(registry, 'shelfd_problems', 'Paths and contents with a problem, by its code.', [
    'mirror',
    'code',
  ])
  const show: Show = (mirror, { problems }) => {
    for (const [code, n] of problems) gauge.inc({ mirror, code: PROBLEM_CODES.has(code) ? code : 'other' }, n)
  }
  return { reset: () => gauge.reset(), show }
}

function registerOutcomes(registry: Registry): { reset(): void; show: Show } {
  const help = 'Sent contents of present files, by the outcome of their ingestion.'
  const gauge = makeGauge(registry, 'shelfd_ingestion_contents', help, ['mirror', 'outcome'])
  const show: Show = (mirror, { outcomes }) => {
    for (const [outcome, n] of Object.entries(outcomes)) gauge.set({ mirror, outcome }, n)
  }
  return { reset: () => gauge.reset(), show }
}
