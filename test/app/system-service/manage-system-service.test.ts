import { expect, test } from 'vitest'
import {
  installSystemService,
  type RunManager,
  showSystemService,
  switchSystemService,
} from '../../../src/app/system-service/manage-system-service.ts'
import { type PlanInput, planSystemService } from '../../../src/app/system-service/service-manager-plans.ts'
import { temporaryDirectory } from '../../support/temporary.ts'

const FILLING = { command: ['/opt/node', '/opt/shelfd/main.js', 'daemon'], tokenFile: undefined }

/** launchd, as far as shelfd uses it: it knows an agent whose file was loaded, and has not ended it at once when told to forget it. */
function managedByLaunchd() {
  let state = 'unknown'
  const become = (next: string, isPossible: boolean) => {
    if (isPossible) state = next
    return isPossible
  }
  const verbs: Record<string, () => boolean> = {
    bootstrap: () => become('running', state === 'unknown'),
    bootout: () => become('SIGTERMed', state !== 'unknown'),
    kickstart: () => become('running', state !== 'unknown'),
    kill: () => become('not running', state === 'running'),
  }
  const run: RunManager = async ({ args: [verb = ''] }, show) => {
    if (verb !== 'print') return verbs[verb]?.() ?? false
    for (const line of [`\tstate = ${state}`, '\tresource coalition = {', '\t\tstate = active', '\t}']) show(line)
    const isKnown = state !== 'unknown'
    if (state === 'SIGTERMed') state = 'unknown'
    return isKnown
  }
  return { plan: planFor('darwin'), run }
}

test('a service of launchd runs between start and stop, also if it was installed without a start', async () => {
  const launchd = managedByLaunchd()
  const isRunning = () => showSystemService(launchd, () => {})
  await installSystemService(launchd, FILLING, false)
  expect(await isRunning()).toBe(false)
  for (const _ of ['first', 'second']) {
    await switchSystemService(launchd, 'start')
    expect(await isRunning()).toBe(true)
    await switchSystemService(launchd, 'stop')
    expect(await isRunning()).toBe(false)
  }
})

test('a start says what launchd answers if no service is installed', async () => {
  const { plan } = managedByLaunchd()
  const run: RunManager = async ({ args: [verb] }, show) => {
    show(`${verb}: refused`)
    return false
  }
  await expect(switchSystemService({ plan, run }, 'start')).rejects.toThrow('kickstart: refused')
})

test('an installation replaces an agent that launchd is still ending', async () => {
  const launchd = managedByLaunchd()
  await installSystemService(launchd, FILLING, true)
  const { ran } = await installSystemService(launchd, FILLING, true)
  expect(ran.map((line) => line.split(' ')[1])).toEqual(['bootout', 'bootstrap'])
  expect(await showSystemService(launchd, () => {})).toBe(true)
})

test.each([
  ['Running', true],
  ['Ready', false],
  ['Queued', false],
])('a task of Windows whose state is %s runs: %s', async (state, runs) => {
  const run: RunManager = async (_, show) => {
    for (const line of ['', 'TaskName : shelfd', `State    : ${state}`, '']) show(line)
    return true
  }
  const shown: string[] = []
  expect(await showSystemService({ plan: planFor('win32'), run }, (line) => shown.push(line))).toBe(runs)
  expect(shown).toContain(`State    : ${state}`)
})

function planFor(platform: PlanInput['platform']) {
  const home = temporaryDirectory()
  return planSystemService({ platform, isSystem: false, home, env: {}, user: { uid: 501, name: 'ada' } })
}
