import type { Registry } from 'prom-client'
import { escapeText } from '../../foundation/text/safe-text.ts'
import type {
  DaemonMirrorStatus,
  DaemonStatus,
  MirrorState,
  ServiceStatus,
} from '../../sync/continuous/controller-status.ts'
import { listFailingChecks } from '../health/readiness.ts'
import { makeCounter, makeGauge, setCounter } from './make.ts'

type Refresh = (status: DaemonStatus) => void

const SERVICE_STATES: Readonly<Record<ServiceStatus['state'], true>> = {
  unasked: true,
  connected: true,
  away: true,
  refused: true,
}

const MIRROR_STATES: Readonly<Record<MirrorState, true>> = {
  starting: true,
  scanning: true,
  idle: true,
  sending: true,
  waiting: true,
  held: true,
  halted: true,
}

/** Registers gauges of the status of the daemon and its mirrors; the returned function updates them. */
export function registerStatus(registry: Registry): Refresh {
  const refreshers = [
    registerDaemon(registry),
    registerStates(registry),
    registerMirrors(registry),
    registerTimes(registry),
  ]
  return (status) => {
    for (const refresh of refreshers) refresh(status)
  }
}

function registerDaemon(registry: Registry): Refresh {
  const ready = makeGauge(registry, 'shelfd_ready', '1 while /readyz answers 200.', [])
  const full = makeGauge(registry, 'shelfd_store_full', '1 while the disk of the state is full.', [])
  const uploading = makeGauge(registry, 'shelfd_uploads_in_progress', 'Uploads under way.', [])
  const inIngestion = makeGauge(registry, 'shelfd_resources_in_ingestion', 'Resources the service still processes.', [])
  return (status) => {
    ready.set(listFailingChecks(status).length === 0 ? 1 : 0)
    full.set(status.isStoreFull ? 1 : 0)
    uploading.set(status.uploading)
    inIngestion.set(status.inIngestion)
  }
}

function registerStates(registry: Registry): Refresh {
  const service = makeGauge(registry, 'shelfd_service_state', '1 for the state of the service, 0 for the others.', [
    'state',
  ])
  const mirror = makeGauge(registry, 'shelfd_mirror_state', '1 for the state of the mirror, 0 for the others.', [
    'mirror',
    'state',
  ])
  return (status) => {
    for (const state of Object.keys(SERVICE_STATES)) service.set({ state }, status.service.state === state ? 1 : 0)
    mirror.reset()
    for (const each of status.mirrors) {
      for (const state of Object.keys(MIRROR_STATES)) {
        mirror.set({ mirror: labelOf(each), state }, each.state === state ? 1 : 0)
      }
    }
  }
}

function registerMirrors(registry: Registry): Refresh {
  const limited = makeGauge(
    registry,
    'shelfd_mirror_watch_limited',
    '1 while the system allows no more watches and the mirror is scanned instead.',
    ['mirror'],
  )
  const settling = makeGauge(registry, 'shelfd_settling_files', 'Changed files that have not settled yet.', ['mirror'])
  const missed = makeCounter(registry, 'shelfd_watcher_missed_files_total', 'Changed files that only a scan found.', [
    'mirror',
  ])
  return ({ mirrors }) => {
    for (const gauge of [limited, settling]) gauge.reset()
    for (const mirror of mirrors) {
      limited.set({ mirror: labelOf(mirror) }, mirror.isWatchLimited ? 1 : 0)
      settling.set({ mirror: labelOf(mirror) }, mirror.settling)
    }
    setCounter(
      missed,
      mirrors.map((mirror) => ({ labels: { mirror: labelOf(mirror) }, value: mirror.missedByWatcher })),
    )
  }
}

/** Unknown times are left out instead of being 0. */
function registerTimes(registry: Registry): Refresh {
  const times = {
    lastScanAt: makeGauge(registry, 'shelfd_mirror_last_scan_timestamp_seconds', 'When the last whole scan ended.', [
      'mirror',
    ]),
    lastSuccessAt: makeGauge(
      registry,
      'shelfd_mirror_last_success_timestamp_seconds',
      'When the mirror last had nothing left to send.',
      ['mirror'],
    ),
    nextRunAt: makeGauge(registry, 'shelfd_mirror_next_run_timestamp_seconds', 'Next scan or batch that is planned.', [
      'mirror',
    ]),
  }
  return ({ mirrors }) => {
    for (const key of ['lastScanAt', 'lastSuccessAt', 'nextRunAt'] as const) {
      times[key].reset()
      for (const mirror of mirrors) {
        const atMs = mirror[key]
        if (atMs !== null) times[key].set({ mirror: labelOf(mirror) }, atMs / 1_000)
      }
    }
  }
}

function labelOf({ name }: DaemonMirrorStatus): string {
  return escapeText(name)
}
