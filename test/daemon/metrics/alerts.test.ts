/** Proves the alerts by `promtool test rules`: when each fires, with which words, and when it does not. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { needs } from '../../support/needs.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const RULES = join(import.meta.dirname, '..', '..', '..', 'service', 'prometheus-alerts.yml')

const rule = z.object({
  alert: z.string(),
  labels: z.record(z.string(), z.string()),
  annotations: z.record(z.string(), z.string()),
})
const readRules = () =>
  z.object({ groups: z.array(z.object({ rules: z.array(rule) })) }).parse(parse(readFileSync(RULES, 'utf8')))

const PLACE = { job: 'shelfd', instance: 'nas:9847' }
const PAPERS = { ...PLACE, mirror: 'Papers' }

/** A time stamp a day ago, but for half an hour: the time of these tests begins at 0, and a minute of it costs work. */
const HALF_AN_HOUR_LEFT = '-84600+0x60'

interface Case {
  readonly alert: string
  readonly interval: string
  /** Metric, labels and values, in the notation of promtool. */
  readonly series: readonly (readonly [metric: string, labels: Readonly<Record<string, string>>, values: string])[]
  readonly quietAt: string
  readonly firesAt: string
  /** Of the alert, but for its severity. */
  readonly labels: Readonly<Record<string, string>>
  /** What the annotations call `$value`. */
  readonly value?: string
}

const CASES: readonly Case[] = [
  {
    alert: 'ShelfdDown',
    interval: '1m',
    series: [['up', PLACE, '1 0x9']],
    quietAt: '5m',
    firesAt: '6m',
    labels: PLACE,
  },
  {
    alert: 'ShelfdNotReady',
    interval: '1m',
    series: [['shelfd_ready', PLACE, '0x19']],
    quietAt: '14m',
    firesAt: '15m',
    labels: PLACE,
  },
  {
    ...{
      alert: 'ShelfdCredentialRefused',
      interval: '1m',
      quietAt: '1m',
      firesAt: '2m',
      labels: { ...PLACE, state: 'refused' },
    },
    series: [['shelfd_service_state', { ...PLACE, state: 'refused' }, '0 1x5']],
  },
  {
    ...{
      alert: 'ShelfdMirrorHalted',
      interval: '1m',
      quietAt: '4m',
      firesAt: '5m',
      labels: { ...PAPERS, state: 'halted' },
    },
    series: [['shelfd_mirror_state', { ...PAPERS, state: 'halted' }, '1x9']],
  },
  {
    alert: 'ShelfdStoreFull',
    interval: '1m',
    series: [['shelfd_store_full', PLACE, '0 1x5']],
    quietAt: '1m',
    firesAt: '2m',
    labels: PLACE,
  },
  {
    ...{ alert: 'ShelfdNoSuccess', interval: '1m', quietAt: '45m', firesAt: '46m', labels: PAPERS },
    series: [['shelfd_mirror_last_success_timestamp_seconds', PAPERS, HALF_AN_HOUR_LEFT]],
  },
  {
    // Since the start there was no success at all.
    ...{ alert: 'ShelfdNoSuccess', interval: '1m', quietAt: '45m', firesAt: '46m', labels: PAPERS },
    series: [
      ['shelfd_mirror_state', { ...PAPERS, state: 'sending' }, '1x60'],
      ['shelfd_mirror_state', { ...PAPERS, state: 'idle' }, '0x60'],
      ['process_start_time_seconds', PLACE, HALF_AN_HOUR_LEFT],
    ],
  },
  {
    ...{ alert: 'ShelfdNeedsAttentionGrowing', interval: '1m', quietAt: '70m', firesAt: '71m', value: '3' },
    labels: { ...PAPERS, state: 'needs-attention' },
    series: [['shelfd_files', { ...PAPERS, state: 'needs-attention' }, '0x60 3x60']],
  },
  {
    ...{ alert: 'ShelfdIngestionStuck', interval: '1m', quietAt: '30m', firesAt: '31m', labels: PLACE, value: '5' },
    series: [
      ['shelfd_resources_in_ingestion', PLACE, '5x40'],
      ['shelfd_searchable_after_seconds_count', PLACE, '7x40'],
      ['process_start_time_seconds', PLACE, '-21600+0x40'],
    ],
  },
  {
    ...{ alert: 'ShelfdWatcherMisses', interval: '1m', quietAt: '10m', firesAt: '11m', labels: PAPERS, value: '200' },
    series: [['shelfd_watcher_missed_files_total', PAPERS, '0 200x30']],
  },
  {
    ...{ alert: 'ShelfdWatchLimited', interval: '1m', quietAt: '59m', firesAt: '60m', labels: PAPERS },
    series: [['shelfd_mirror_watch_limited', PAPERS, '1x70']],
  },
  {
    ...{ alert: 'ShelfdLedgerAway', interval: '1m', quietAt: '11m', firesAt: '12m', labels: PLACE },
    series: [['shelfd_ledger_up', PLACE, '1 1 0x20']],
  },
  {
    // Hosts read it at different moments, and one that is away knows nothing.
    ...{ alert: 'ShelfdHostSilent', interval: '1m', quietAt: '60m', firesAt: '61m', labels: { job: 'shelfd' } },
    series: [
      ['shelfd_fleet_hosts', { ...PLACE, state: 'silent' }, '0 1x70'],
      ['shelfd_fleet_hosts', { ...PLACE, instance: 'pc:9847', state: 'silent' }, '0 0 2x70'],
      ['shelfd_fleet_hosts', { ...PLACE, instance: 'away:9847', state: 'silent' }, '0 _x70'],
    ],
    value: '2',
  },
  {
    ...{ alert: 'ShelfdSecondSend', interval: '1m', quietAt: '10m', firesAt: '11m', labels: { job: 'shelfd' } },
    series: [
      ['shelfd_fleet_second_sends_total', PLACE, '3x9 4x60'],
      // It has started since, and shows what was before.
      ['shelfd_fleet_second_sends_total', { ...PLACE, instance: 'new:9847' }, '_x20 4x60'],
    ],
  },
]

/** Eight hours in which all is well. */
const WELL: Case['series'] = [
  ['up', PLACE, '1x480'],
  ['shelfd_ready', PLACE, '1x480'],
  ['shelfd_service_state', { ...PLACE, state: 'refused' }, '0x480'],
  ['shelfd_service_state', { ...PLACE, state: 'connected' }, '1x480'],
  ['shelfd_mirror_state', { ...PAPERS, state: 'halted' }, '0x480'],
  ['shelfd_mirror_state', { ...PAPERS, state: 'idle' }, '1x480'],
  ['shelfd_store_full', PLACE, '0x480'],
  ['shelfd_mirror_last_success_timestamp_seconds', PAPERS, '-80000+60x480'],
  ['process_start_time_seconds', PLACE, '0x480'],
  ['shelfd_files', { ...PAPERS, state: 'needs-attention' }, '4x480'],
  ['shelfd_resources_in_ingestion', PLACE, '5x480'],
  ['shelfd_searchable_after_seconds_count', PLACE, '0+1x480'],
  ['shelfd_watcher_missed_files_total', PAPERS, '90x480'],
  ['shelfd_mirror_watch_limited', PAPERS, '0x480'],
  ['shelfd_ledger_up', PLACE, '1x480'],
  ['shelfd_fleet_hosts', { ...PLACE, state: 'silent' }, '0x20 1x40 0x419'],
  ['shelfd_fleet_hosts', { ...PLACE, state: 'open' }, '3x480'],
  ['shelfd_fleet_second_sends_total', PLACE, '_x200 2x280'],
]

test('each alert fires when it should, in its words, and is quiet before', () => {
  const rules = readRules().groups.flatMap((group) => group.rules)
  expect(new Set(CASES.map(({ alert }) => alert))).toEqual(new Set(rules.map(({ alert }) => alert)))
  const tests = CASES.map(({ alert, interval, series, quietAt, firesAt, labels, value }) => {
    const found = rules.find((one) => one.alert === alert)
    if (!found) throw new Error(`no alert ${alert}`)
    const annotations = Object.entries(found.annotations).map(([key, text]) => [key, fillIn(text, labels, value)])
    const expected = { exp_labels: { ...labels, ...found.labels }, exp_annotations: Object.fromEntries(annotations) }
    const alert_rule_test = [
      { eval_time: quietAt, alertname: alert, exp_alerts: [] },
      { eval_time: firesAt, alertname: alert, exp_alerts: [expected] },
    ]
    return { interval, input_series: inputOf(series), alert_rule_test }
  })
  const alert_rule_test = rules.flatMap(({ alert }) =>
    ['30m', '8h'].map((eval_time) => ({ eval_time, alertname: alert, exp_alerts: [] })),
  )
  tests.push({ interval: '1m', input_series: inputOf(WELL), alert_rule_test })
  const file = join(temporaryDirectory(), 'tests.yml')
  writeFileSync(file, stringify({ rule_files: [RULES], evaluation_interval: '1m', tests }))
  expect(promtool('test', 'rules', file)).toContain('SUCCESS')
})

function inputOf(series: Case['series']) {
  return series.map(([metric, labels, values]) => {
    const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value}"`)
    return { series: `${metric}{${pairs.join(',')}}`, values }
  })
}

/** Does what the templates of the annotations ask for. */
function fillIn(text: string, labels: Readonly<Record<string, string>>, value = ''): string {
  return text
    .replaceAll(/\{\{ \$labels\.(\w+) \}\}/g, (_, name: string) => labels[name] ?? '')
    .replaceAll('{{ $value | printf "%.0f" }}', value)
}

/** Returns what promtool prints; throws that when it fails. */
function promtool(...args: string[]): string {
  needs('promtool')
  return execFileSync('promtool', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
