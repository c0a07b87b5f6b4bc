/** Runs one scenario of a fleet: two to four hosts in the same time, over one service and one ledger, judged at the end. */
import type { ManualClock } from '../../../support/manual-clock.ts'
import { ANSWERS, PLAIN } from '../pass-options.ts'
import type { Judgement } from '../run-scenario.ts'
import type { SimulatedState } from '../state.ts'
import { Violation } from '../world.ts'
import type { FleetHost } from './fleet-host.ts'
import type { FleetScenario } from './fleet-scenario.ts'
import { FleetWorld } from './fleet-world.ts'

/** The longest quarantine, and a little. */
const LONG_MS = 25 * 3_600_000
const MAX_ROUNDS = 12
const MAX_WAKES = 100_000

/** `unhandled` collects what nobody caught meanwhile: a real process would end. */
export async function runFleetScenario(
  scenario: FleetScenario,
  states: readonly SimulatedState[],
  unhandled: readonly unknown[],
): Promise<Judgement> {
  using world = new FleetWorld(scenario, states)
  try {
    for (const event of scenario.events) world.startEvent(event)
    const lives = scenario.hosts.map(async ({ acts }, index) => {
      const host = world.hosts[index]
      for (const act of acts) await host?.perform(act)
    })
    await drive(world, Promise.all(lives))
    world.assertReported()
    world.assertDay()
    await converge(world)
    if (unhandled.length > 0) throw unhandled[0]
    return { violation: undefined, trace: world.trace }
  } catch (error) {
    if (error instanceof Violation) return { violation: error, trace: world.trace }
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    return { violation: new Violation('no crash', text), trace: world.trace }
  }
}

/** As people would: each host again after a while, until all have ended well; then another round must change nothing. */
async function converge(world: FleetWorld): Promise<void> {
  world.record('— converge')
  world.heal()
  let outcomes: readonly string[] = []
  for (let round = 0; round < MAX_ROUNDS && !(round > 0 && outcomes.every((one) => one === 'done')); round += 1) {
    await world.clock.advance(LONG_MS)
    outcomes = await runEach(world)
  }
  world.assertReported()
  world.assertNothingLost()
  world.assertSentOnce()
  world.assertClaimsEnd()
  if (outcomes.some((one) => one !== 'done'))
    throw new Violation('P17', `after ${MAX_ROUNDS} rounds the hosts end ${outcomes.join(', ')}`)
  const before = world.uploads
  await runEach(world)
  if (world.uploads > before) throw new Violation('P17', 'a file was sent in an unchanged world')
}

async function runEach(world: FleetWorld): Promise<string[]> {
  const outcomes: string[] = []
  for (const host of world.hosts) outcomes.push(await drive(world, runOnce(host)))
  return outcomes
}

async function runOnce(host: FleetHost): Promise<string> {
  await host.clock.awake()
  const result = await host.sync({ ...PLAIN, ...ANSWERS, waitMs: LONG_MS * 2 })
  return result?.outcome ?? 'dead'
}

/** Lets time pass until `work` has ended. */
export async function drive<T>(
  { clock, throwIfFailed }: { readonly clock: ManualClock; readonly throwIfFailed?: () => void },
  work: Promise<T>,
  mostWakes = MAX_WAKES,
): Promise<T> {
  let isOver = false
  const end = () => {
    isOver = true
  }
  work.then(end, end)
  await clock.settle()
  for (let wakes = 0; !isOver; wakes += 1) {
    throwIfFailed?.()
    const goesOn = await clock.advanceToNext()
    if (isOver) break
    if (!goesOn) throw new Violation('no hang', 'some host waits for something that never comes')
    if (wakes > mostWakes) throw new Violation('no hang', 'some host does not come to an end')
  }
  throwIfFailed?.()
  return await work
}
