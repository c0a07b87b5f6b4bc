/** Keeps dashboard, alerts and docs/monitoring.md true: what they name is compared with a real scrape. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { commands } from '../../../src/cli/commands.ts'
import { FleetFigures } from '../../../src/daemon/fleet-metrics.ts'
import { createMetrics } from '../../../src/daemon/metrics.ts'
import { systemClock } from '../../../src/foundation/clock.ts'
import { silentLogger } from '../../../src/foundation/logger.ts'
import { openStateReader } from '../../../src/sync/reading/state-reader.ts'
import { daemonMirrorStatus, daemonStatus, fleetFigures, ledgerStatus } from '../../support/daemon.ts'
import { startEngine } from '../../support/engine.ts'
import { type MetricFamily, parseExposition } from '../../support/exposition.ts'

const PROJECT = join(import.meta.dirname, '..', '..', '..')

const alertFile = z.strictObject({
  groups: z.array(
    z.strictObject({
      name: z.string(),
      rules: z.array(
        z.strictObject({
          alert: z.string().regex(/^Shelfd[A-Z][A-Za-z]+$/),
          expr: z.string(),
          for: z.string().regex(/^\d+[mh]$/),
          labels: z.strictObject({ severity: z.enum(['critical', 'warning', 'info']) }),
          annotations: z.strictObject({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
})

const dashboardFile = z.object({
  uid: z.string(),
  id: z.null(),
  templating: z.object({ list: z.array(z.object({ name: z.string(), type: z.string(), query: z.unknown() })) }),
  panels: z.array(
    z.object({
      id: z.int(),
      type: z.string(),
      title: z.string(),
      datasource: z.object({ type: z.literal('prometheus'), uid: z.string().regex(/^\$\{datasource\}$/) }).optional(),
      gridPos: z.object({ h: z.int(), w: z.int(), x: z.int(), y: z.int() }),
      targets: z.array(z.object({ expr: z.string() })).prefault([]),
    }),
  ),
})

const alerts = alertFile.parse(parse(read('service/prometheus-alerts.yml'))).groups.flatMap(({ rules }) => rules)
const dashboard = dashboardFile.parse(JSON.parse(read('service/grafana-dashboard.json')))
const dashboardExpressions = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
const expressions = [...alerts.map(({ expr }) => expr), ...dashboardExpressions]

type Scrape = ReadonlyMap<string, MetricFamily>

describe('dashboard and alerts', () => {
  test('dashboard and alerts name only existing metrics', async () => {
    const scrape = await scrapeAll()
    const there = new Set([...scrape.values()].flatMap(({ samples }) => samples.map(({ name }) => name)))
    const named = expressions.flatMap((expr) => expr.match(/\b(?:shelfd|process|nodejs)_\w+/g) ?? [])
    expect(named.filter((name) => !there.has(name))).toEqual([])
    expect(new Set(named).size).toBeGreaterThan(25)
  })

  test('dashboard and alerts select only by existing labels', async () => {
    const scrape = await scrapeAll()
    expect(expressions.flatMap((expr) => listUnknownSelections(scrape, expr))).toEqual([])
  })

  test('every expression closes its brackets', () => {
    expect(expressions.filter((expr) => !isBalanced(expr))).toEqual([])
  })
})

describe('alerts', () => {
  test('every alert has a unique name', () => {
    expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length)
    expect(alerts.length).toBeGreaterThanOrEqual(8)
  })

  test('every alert names a command that exists', () => {
    const names = commands.map(({ name }) => name)
    for (const { alert, annotations } of alerts) {
      const named = [...annotations.description.matchAll(/`shelfd ([^`]+)`/g)].map(([, words = '']) => words)
      expect(named.length, alert).toBeGreaterThan(0)
      expect(named.filter((words) => !names.some((name) => `${words} `.startsWith(`${name} `)))).toEqual([])
    }
  })

  test('every alert is explained in the documentation', () => {
    const listed = tableOf('alert').map(([name]) => name)
    expect(listed).toEqual(alerts.map(({ alert }) => `\`${alert}\``))
  })
})

test('the dashboard takes its data source as a variable', () => {
  expect(dashboard.templating.list.map(({ name, type }) => `${name} ${type}`)).toContain('datasource datasource')
  expect(dashboard.panels.filter(({ type, datasource }) => type !== 'row' && !datasource)).toEqual([])
})

test('the dashboard uses only variables that it declares', () => {
  const known = [...dashboard.templating.list.map(({ name }) => name), '__rate_interval']
  const used = dashboardExpressions.flatMap((expr) => [...expr.matchAll(/\$(\w+)/g)].map(([, name = '']) => name))
  expect(used.filter((name) => !known.includes(name))).toEqual([])
})

test('the dashboard has a row for each field', () => {
  const rows = dashboard.panels.filter(({ type }) => type === 'row').map(({ title }) => title)
  expect(rows).toEqual(['Overview', 'Uploads', 'Ingestion', 'Requests', 'Problems', 'Watcher', 'Process', 'Fleet'])
})

test('the panels of the dashboard do not overlap', () => {
  const cells = dashboard.panels.flatMap(({ gridPos: { h, w, x, y } }) =>
    Array.from({ length: h * w }, (_, index) => `${x + (index % w)},${y + Math.floor(index / w)}`),
  )
  expect(new Set(cells).size).toBe(cells.length)
  expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length)
  expect(dashboard.panels.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
})

describe('the table of metrics', () => {
  test('the documentation lists every metric with its type', async () => {
    const listed = tableOf('metric').map(([name = '', type = '']) => `${name.replaceAll('`', '')} ${type}`)
    const there = [...(await scrapeAll()).values()].map(({ name, type }) => `${name} ${type}`)
    expect(listed.sort()).toEqual(there.sort())
  })

  test('the documentation lists the labels of every metric', async () => {
    const scrape = await scrapeAll()
    for (const [name = '', , labels = ''] of tableOf('metric')) {
      const listed = labels.split(', ').map((label) => label.replaceAll('`', ''))
      expect(listed.filter((label) => label !== '').sort(), name).toEqual(labelsOf(scrape, name.replaceAll('`', '')))
    }
  })
})

/** A scrape in which every metric has a sample. */
async function scrapeAll(): Promise<Scrape> {
  const { service, tested, mirror } = await startEngine({ 'a.md': 'a' })
  service.answer = ({ route }) => (route === 'uploadFile' ? { status: 413, body: { message: 'too large' } } : undefined)
  await tested.sync([mirror])
  const mirrors = [daemonMirrorStatus({ name: mirror.name })]
  const status = () => daemonStatus({ mirrors, ledger: ledgerStatus() })
  await using reader = openStateReader(tested.store.directory)
  const figures = new FleetFigures({ clock: systemClock, logger: silentLogger }, async () => fleetFigures())
  const metrics = createMetrics(reader, '1.2.3', figures)
  metrics.observeLedgerCall({ name: 'renew', durationMs: 3, error: undefined })
  figures.latest()
  await figures[Symbol.asyncDispose]()
  metrics.observeRequest({ route: 'uploadFile', status: 413, durationMs: 3 })
  return parseExposition(await metrics.render(status))
}

/** Label values that an expression selects by, and no sample of the metric has. */
function listUnknownSelections(scrape: Scrape, expr: string): string[] {
  return [...expr.matchAll(/\b((?:shelfd|process|nodejs)_\w+)\{([^}]*)\}/g)].flatMap(([, name = '', pairs = '']) => {
    const samples = [...scrape.values()].flatMap(({ samples }) => samples.filter((each) => each.name === name))
    const selections = [...pairs.matchAll(/(\w+)=~?"([^"$]+)"/g)]
    return selections.flatMap(([text, label = '', values = '']) => {
      const isThere = values.split('|').every((value) => samples.some(({ labels }) => labels[label] === value))
      return isThere || label === 'job' ? [] : [`${name}: ${text}`]
    })
  })
}

function isBalanced(expr: string): boolean {
  const open: string[] = []
  const closing: Readonly<Record<string, string>> = { ')': '(', '}': '{', ']': '[' }
  for (const character of expr.replace(/"[^"]*"/g, '')) {
    if ('({['.includes(character)) open.push(character)
    else if (closing[character] !== undefined && open.pop() !== closing[character]) return false
  }
  return open.length === 0
}

function labelsOf(scrape: Scrape, name: string): string[] {
  const labels = new Set(scrape.get(name)?.samples.flatMap((sample) => Object.keys(sample.labels)))
  labels.delete('le')
  return [...labels].sort()
}

/** The cells of the table in docs/monitoring.md whose first column has this title. */
function tableOf(title: string): string[][] {
  const blocks = read('docs/monitoring.md').split('\n\n')
  const table = blocks
    .filter((block) => block.startsWith(`| ${title} |`))
    .flatMap((block) => block.trim().split('\n').slice(2))
  return table.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

function read(path: string): string {
  return readFileSync(join(PROJECT, path), 'utf8')
}
