/** How checks run, and the checks of the machine, whose values no test can cause. */
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  type Check,
  type DoctorContext,
  type Machine,
  openDoctorContext,
} from '../../../src/app/doctor/doctor-context.ts'
import { CHECKS, type Checked, runChecks } from '../../../src/app/doctor/run-checks.ts'
import { readSettings } from '../../../src/app/settings/read-settings.ts'
import { UsageError } from '../../../src/foundation/errors.ts'
import { createRedactor } from '../../../src/foundation/text/redaction.ts'
import { ok } from '../../../src/rules/doctor-findings.ts'
import { startFaultyService } from '../../support/faulty-service.ts'
import { homeWithPapers, temporaryHome } from '../../support/home.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const GIB = 2 ** 30

function openDoctor({
  env = {},
  limitMs = 5_000,
  ...machine
}: Partial<Machine> & { env?: Record<string, string>; limitMs?: number } = {}): DoctorContext {
  const home = env.HOME ?? temporaryDirectory()
  const input = { env: { SHELFD_NO_SYSTEM_CONFIG: '1', ...env }, cwd: home, home, flags: {} }
  const context = openDoctorContext({
    ...input,
    limitMs,
    redactor: createRedactor(),
    signal: new AbortController().signal,
    machine: { nowMs: Date.now, freeBytes: () => 100 * GIB, countWatches: () => undefined, ...machine },
    readSettings: () => readSettings(input),
  })
  onTestFinished(() => context[Symbol.asyncDispose]())
  return context
}

const run = (checks: readonly Check[], context: DoctorContext): Promise<Checked[]> =>
  Array.fromAsync(runChecks(checks, context))

function only(name: string): Check[] {
  return CHECKS.filter((check) => check.name === name)
}

describe('checks', () => {
  test('the other checks run when one throws or hangs', async () => {
    const checks: Check[] = [
      { name: 'throws', run: () => Promise.reject(new UsageError('bad-usage', 'No')) },
      { name: 'breaks', run: () => Promise.reject(new TypeError('a fault of ours')) },
      { name: 'hangs', run: () => new Promise(() => {}) },
      { name: 'good', run: async () => [ok('fine')] },
    ]
    expect(await run(checks, openDoctor({ limitMs: 20 }))).toMatchObject([
      { check: 'throws', level: 'failed', code: 'bad-usage' },
      { check: 'breaks', level: 'failed', code: 'unexpected', message: 'a fault of ours' },
      { check: 'hangs', level: 'failed', code: 'answer-late' },
      { check: 'good', level: 'ok' },
    ])
  })

  test('each check has a name of its own', () => {
    const names = CHECKS.map(({ name }) => name)
    expect(new Set(names).size).toBe(names.length)
  })
})

describe('the machine', () => {
  test('a machine without disk space for the state fails', async () => {
    const context = openDoctor({ freeBytes: () => 2 ** 20 })
    expect(await run(only('disk'), context)).toMatchObject([
      { level: 'failed', code: 'disk-full' },
      { level: 'failed', code: 'disk-full' },
    ])
  })

  test('too few watches for all directories give a warning', async () => {
    const home = homeWithPapers({ 'a/1.md': '1', 'b/2.md': '2', 'c/3.md': '3' })
    expect((await home.shelfd(['sync', 'Papers'])).exitCode).toBe(0)
    const watches = (used: number) =>
      run(only('watches'), openDoctor({ env: { ...home.env }, countWatches: () => ({ used, limit: 1_000 }) }))
    expect(await watches(890)).toMatchObject([{ level: 'ok' }])
    expect(await watches(897)).toMatchObject([
      {
        level: 'warning',
        message: expect.stringContaining('897 of 1,000 used, and the mirrors need 4'),
        remedy: 'sudo sysctl fs.inotify.max_user_watches=524288',
      },
    ])
  })

  test('a clock that is wrong fails', async () => {
    const service = await startFaultyService()
    const env = { SHELFD_SERVICE_URL: service.url, SHELFD_TOKEN: service.token }
    const clock = (aheadMs: number) => run(only('clock'), openDoctor({ env, nowMs: () => Date.now() + aheadMs }))
    expect(await clock(0)).toMatchObject([{ level: 'ok' }])
    expect(await clock(-60_000)).toMatchObject([{ level: 'warning' }])
    expect(await clock(3_600_000)).toMatchObject([{ level: 'failed', remedy: 'sudo timedatectl set-ntp true' }])
  })
})

test('a token that no program prints in time fails', async () => {
  const home = temporaryHome()
  home.write('config/shelfd', {
    'config.yaml': 'service: {url: "http://127.0.0.1:9", tokenCommand: ["sleep", "60"]}\n',
  })
  const context = openDoctor({ env: { ...home.env }, limitMs: 100 })
  expect(await run([...only('credential'), ...only('rights')], context)).toMatchObject([
    { check: 'credential', level: 'failed', code: 'answer-late' },
    { check: 'rights', level: 'unchecked' },
  ])
})
