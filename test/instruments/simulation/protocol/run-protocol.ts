/** Runs many light hosts over one ledger in memory: the rules of claims, leases and settlements at a size that whole hosts do not reach. */
import { drive } from '../fleet/run-fleet.ts'
import type { Judgement } from '../run-scenario.ts'
import { Violation } from '../world.ts'
import type { ProtocolScenario } from './protocol-scenario.ts'
import { type Cost, ProtocolWorld } from './protocol-world.ts'

export async function runProtocol(scenario: ProtocolScenario): Promise<Judgement & { readonly cost: Cost }> {
  const world = new ProtocolWorld(scenario)
  const judge = async (): Promise<Violation | undefined> => {
    try {
      const work = Promise.all(world.hosts.map((host) => host.work()))
      await drive(world, work, Number.POSITIVE_INFINITY)
      world.assertSentOnce()
      world.assertDay()
      world.assertNobodyStarves()
      world.assertCost()
      return undefined
    } catch (error) {
      if (error instanceof Violation) return error
      return new Violation('no crash', error instanceof Error ? (error.stack ?? error.message) : String(error))
    }
  }
  const violation = await judge()
  const { cost, longestWaitMs, trace } = world
  trace.push(`${JSON.stringify(cost)}, the longest wait ${Math.round(longestWaitMs)} ms`)
  return { violation, trace, cost }
}
