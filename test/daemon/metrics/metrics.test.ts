import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { startHealthServer } from '../../../src/daemon/health.ts'
import { createMetrics, type Metrics } from '../../../src/daemon/metrics.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { openStore, type Store } from '../../../src/store/open-store.ts'
import type { DaemonStatus } from '../../../src/sync/continuous/controller-status.ts'
import { openStateReader } from '../../../src/sync/reading/state-reader.ts'
import { daemonMirrorStatus, daemonStatus } from '../../support/daemon.ts'
import { mirrorOf, startEngine } from '../../support/engine.ts'
import { type MetricSample, parseExposition } from '../../support/exposition.ts'
import { temporaryDirectory, writeTree } from '../../support/temporary.ts'

interface TestedMetrics extends Omit<Metrics, 'render'> {
  render(): Promise<string>
}

interface MetricsInput {
  readonly status?: () => DaemonStatus
  readonly store: Store
}

function metricsOf({ status = daemonStatus, store }: MetricsInput): TestedMetrics {
  const reader = openStateReader(store.directory)
  onTestFinished(() => reader[Symbol.asyncDispose]())
  const metrics = createMetrics(reader, '1.2.3')
  return { ...metrics, render: () => metrics.render(status) }
}

async function samplesOf(metrics: TestedMetrics, name: string): Promise<MetricSample[]> {
  const family = parseExposition(await metrics.render()).get(name)
  if (!family) throw new Error(`${name} is not there`)
  return family.samples
}

/** `value` by the values of the labels, in the order the metric has them. */
async function valuesOf(metrics: TestedMetrics, name: string): Promise<Record<string, number>> {
  const samples = await samplesOf(metrics, name)
  return Object.fromEntries(samples.map(({ labels, value }) => [Object.values(labels).join(' '), value]))
}

describe('scrapes', () => {
  test('a scrape follows the grammar of the text format', async () => {
    using store = openStore(temporaryDirectory())
    const metrics = metricsOf({ store })
    metrics.uploadEnded('created', 12_345)
    metrics.searchableAfter(2_500)
    metrics.observeRequest({ route: 'uploadFile', status: 201, durationMs: 12.5 })
    const families = parseExposition(await metrics.render())
    expect(families.size).toBeGreaterThan(30)
    for (const { name, type, help } of families.values()) {
      expect(help, name).toMatch(/^[A-Z0-9].*\.$/)
      expect(name).toMatch(/^(shelfd|process|nodejs)_/)
      // The naming rules of Prometheus: _total is for what only grows.
      expect({ name, hasTotal: name.endsWith('_total') }).toEqual({ name, hasTotal: type === 'counter' })
      if (type === 'histogram') expect(name).toMatch(/_seconds$/)
    }
    expect(metrics.contentType).toBe('text/plain; version=0.0.4; charset=utf-8')
  })

  test('a scrape over the network has the same metrics', async () => {
    using store = openStore(temporaryDirectory())
    const metrics = metricsOf({ store })
    const renderMetrics = async () => ({ body: await metrics.render(), contentType: metrics.contentType })
    const view = { status: daemonStatus, renderMetrics, isAlive: () => true }
    await using server = await startHealthServer({ host: '::1', port: 0, view, logger: silentLogger }).catch(() =>
      startHealthServer({ host: 'localhost', port: 0, view, logger: silentLogger }),
    )
    const answer = await fetch(`${server.url}/metrics`)
    expect(answer.headers.get('content-type')).toBe(metrics.contentType)
    const names = [...parseExposition(await answer.text()).keys()]
    expect(names).toEqual([...parseExposition(await metrics.render()).keys()])
  })

  test('a hostile mirror name is escaped in labels', async () => {
    using store = openStore(temporaryDirectory())
    const name = 'a"b\\c\u202ed\ne'
    const metrics = metricsOf({ store, status: () => daemonStatus({ mirrors: [daemonMirrorStatus({ name })] }) })
    expect(Object.keys(await valuesOf(metrics, 'shelfd_settling_files'))).toEqual(['a\\"b\\\\c\\\\u{202e}d\\\\ne'])
  })

  test('the buckets of a histogram add up', async () => {
    using store = openStore(temporaryDirectory())
    const metrics = metricsOf({ store })
    for (const durationMs of [500, 2_000, 90_000, 40 * 86_400_000]) metrics.searchableAfter(durationMs)
    const samples = await samplesOf(metrics, 'shelfd_searchable_after_seconds')
    const buckets = samples.filter(({ name }) => name.endsWith('_bucket'))
    expect(buckets.map(({ value }) => value)).toEqual(buckets.map(({ value }) => value).sort((a, b) => a - b))
    expect(buckets.at(-1)).toMatchObject({ labels: { le: '+Inf' }, value: 4 })
    expect(buckets.at(-2)).toMatchObject({ labels: { le: '604800' }, value: 3 })
    expect(samples.find(({ name }) => name.endsWith('_count'))?.value).toBe(4)
  })

  test('two sets of metrics share no counters', async () => {
    using first = openStore(temporaryDirectory())
    const [one, other] = [metricsOf({ store: first }), metricsOf({ store: first })]
    one.uploadEnded('created', 1)
    expect((await valuesOf(other, 'shelfd_uploads_total')).created).toBe(0)
  })

  test('a scrape fails when the status is unavailable', async () => {
    using store = openStore(temporaryDirectory())
    const status = () => {
      throw new Error('closing')
    }
    await expect(metricsOf({ store, status }).render()).rejects.toThrow('closing')
  })
})

describe('counted events', () => {
  test('uploads are counted by outcome, zeros included', async () => {
    using store = openStore(temporaryDirectory())
    const metrics = metricsOf({ store })
    metrics.uploadEnded('created', 100)
    metrics.uploadEnded('created', 50)
    metrics.uploadEnded('refused', 7)
    const zeros = { duplicate: 0, adopted: 0, absent: 0, doubt: 0, 'not-sent': 0 }
    expect(await valuesOf(metrics, 'shelfd_uploads_total')).toEqual({ ...zeros, created: 2, refused: 1 })
    expect(await valuesOf(metrics, 'shelfd_upload_bytes_total')).toEqual({ ...zeros, created: 150, refused: 7 })
  })

  test('requests are counted by route and few statuses', async () => {
    using store = openStore(temporaryDirectory())
    const metrics = metricsOf({ store })
    for (const status of [200, 200, 429, 418, 499, 299, undefined]) {
      metrics.observeRequest({ route: 'showResource', status, durationMs: 40 })
    }
    expect(await valuesOf(metrics, 'shelfd_requests_total')).toEqual({
      'showResource 200': 2,
      'showResource 429': 1,
      'showResource 4xx': 2,
      'showResource 2xx': 1,
      'showResource none': 1,
    })
    const durations = await samplesOf(metrics, 'shelfd_request_duration_seconds')
    expect(durations.find(({ labels }) => labels.le === '0.025')?.value).toBe(0)
    expect(durations.find(({ labels }) => labels.le === '0.1')?.value).toBe(7)
  })

  test('a scan counts as one miss of the watcher', async () => {
    using store = openStore(temporaryDirectory())
    const metrics = metricsOf({ store })
    metrics.watcherMissed(12)
    metrics.watcherMissed(0)
    expect(await valuesOf(metrics, 'shelfd_watcher_misses_total')).toEqual({ '': 1 })
  })
})

describe('the status of the daemon', () => {
  test('every scrape reads the current status', async () => {
    using store = openStore(temporaryDirectory())
    const statuses = [
      daemonStatus({
        mirrors: [daemonMirrorStatus({ settling: 3, missedByWatcher: 5, state: 'halted' })],
        uploading: 2,
      }),
      daemonStatus({ mirrors: [daemonMirrorStatus({ name: 'Notes' })], isStoreFull: true, inIngestion: 9 }),
    ]
    let now = 0
    const metrics = metricsOf({ store, status: () => statuses[now] ?? daemonStatus() })
    const read = async () => ({
      ready: await valuesOf(metrics, 'shelfd_ready'),
      full: await valuesOf(metrics, 'shelfd_store_full'),
      uploading: await valuesOf(metrics, 'shelfd_uploads_in_progress'),
      inIngestion: await valuesOf(metrics, 'shelfd_resources_in_ingestion'),
      settling: await valuesOf(metrics, 'shelfd_settling_files'),
      missed: await valuesOf(metrics, 'shelfd_watcher_missed_files_total'),
      states: Object.keys(await valuesOf(metrics, 'shelfd_mirror_state')).filter((key) => key.endsWith('idle')),
    })
    expect(await read()).toEqual({
      ready: { '': 0 },
      full: { '': 0 },
      uploading: { '': 2 },
      inIngestion: { '': 0 },
      settling: { Papers: 3 },
      missed: { Papers: 5 },
      states: ['Papers idle'],
    })
    now = 1
    expect(await read()).toEqual({
      ready: { '': 0 },
      full: { '': 1 },
      uploading: { '': 0 },
      inIngestion: { '': 9 },
      settling: { Notes: 0 },
      missed: { Notes: 0 },
      states: ['Notes idle'],
    })
  })

  test('each mirror is in exactly one state', async () => {
    using store = openStore(temporaryDirectory())
    const mirrors = [daemonMirrorStatus(), daemonMirrorStatus({ name: 'Notes', state: 'halted' })]
    const metrics = metricsOf({ store, status: () => daemonStatus({ mirrors }) })
    const states = Object.entries(await valuesOf(metrics, 'shelfd_mirror_state'))
    expect(states).toHaveLength(14)
    expect(states.filter(([, value]) => value === 1).map(([key]) => key)).toEqual(['Papers idle', 'Notes halted'])
    const service = await valuesOf(metrics, 'shelfd_service_state')
    expect(service).toEqual({ unasked: 0, connected: 1, away: 0, refused: 0 })
  })

  test('a mirror that never succeeded has no time of success', async () => {
    using store = openStore(temporaryDirectory())
    const mirrors = [
      daemonMirrorStatus({ lastSuccessAt: null }),
      daemonMirrorStatus({ name: 'Notes', lastSuccessAt: 1_500 }),
    ]
    const metrics = metricsOf({ store, status: () => daemonStatus({ mirrors }) })
    expect(await valuesOf(metrics, 'shelfd_mirror_last_success_timestamp_seconds')).toEqual({ Notes: 1.5 })
  })
})

describe('counts from the store', () => {
  test('files are counted for the mirrors of the daemon', async () => {
    const { service, tested } = await startEngine()
    service.answer = ({ route, fileName }) =>
      route === 'uploadFile' && fileName === 'refused.md' ? { status: 413, body: { message: 'too large' } } : undefined
    const root = writeTree(temporaryDirectory(), { 'a.md': 'a', 'copy.md': 'a', 'b.md': 'b', 'refused.md': 'refused' })
    const [mirror, other] = [mirrorOf(root), mirrorOf(writeTree(temporaryDirectory(), { 'c.md': 'c' }))]
    await tested.sync([mirror, other])
    writeFileSync(join(root, 'later.md'), 'not seen yet')
    const status = () => daemonStatus({ mirrors: [daemonMirrorStatus({ name: mirror.name })] })
    const metrics = metricsOf({ store: tested.store, status })
    const at = mirror.name
    expect(await valuesOf(metrics, 'shelfd_files')).toEqual({
      [`${at} searchable`]: 3,
      [`${at} without-text`]: 0,
      [`${at} in-ingestion`]: 0,
      [`${at} to-send`]: 0,
      [`${at} sending`]: 0,
      [`${at} in-doubt`]: 0,
      [`${at} needs-attention`]: 1,
      [`${at} set-aside`]: 0,
    })
    expect(await valuesOf(metrics, 'shelfd_ingestion_contents')).toMatchObject({ [`${at} searchable`]: 2 })
    expect(await valuesOf(metrics, 'shelfd_problems')).toEqual({ [`${at} too-large`]: 1 })
    expect(await valuesOf(metrics, 'shelfd_queue_contents')).toEqual({ [at]: 0 })
  })

  test('problems have few codes, whatever was recorded', async () => {
    const { tested, mirror } = await startEngine({ 'a.md': 'a' })
    await tested.sync([mirror])
    const mirrorId = tested.store.mirrors.findByName(mirror.name)?.id ?? 0
    tested.store.write(() => {
      for (const code of ['EIO', 'EACCES', 'busy']) {
        tested.store.problems.record(mirrorId, { path: code, code, message: 'canary' }, 1)
      }
    })
    const status = () => daemonStatus({ mirrors: [daemonMirrorStatus({ name: mirror.name })] })
    const metrics = metricsOf({ store: tested.store, status })
    const codes = { [`${mirror.name} other`]: 2, [`${mirror.name} busy`]: 1 }
    expect(await valuesOf(metrics, 'shelfd_problems')).toEqual(codes)
    expect(await metrics.render()).not.toMatch(/canary|EACCES|a\.md/)
  })
})
