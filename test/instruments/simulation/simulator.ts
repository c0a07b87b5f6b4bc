/** Runs seeds in this process, one after the other. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FleetScenario, makeFleet } from './fleet/fleet-scenario.ts'
import { runFleetScenario } from './fleet/run-fleet.ts'
import { ProcessDied } from './life.ts'
import { makeProtocol } from './protocol/protocol-scenario.ts'
import type { Cost } from './protocol/protocol-world.ts'
import { runProtocol } from './protocol/run-protocol.ts'
import { type Judgement, runScenario } from './run-scenario.ts'
import { makeScenario, type Scenario } from './scenario.ts'
import { SimulatedState } from './state.ts'

/** A program alone; two to four that share a ledger; many light hosts that do. */
export type WorldKind = 'single' | 'fleet' | 'protocol'

/** Runs one scenario after the other on one store. */
export class Simulator implements Disposable {
  readonly #directory = mkdtempSync(join(tmpdir(), 'shelfd-simulation-'))
  readonly #state = new SimulatedState(join(this.#directory, 'state'))
  /** Of the hosts of a fleet. */
  readonly #states: SimulatedState[] = []
  readonly #unhandled: unknown[] = []

  constructor() {
    process.on('unhandledRejection', this.#onUnhandled)
  }

  async run(scenario: Scenario): Promise<Judgement> {
    this.#unhandled.length = 0
    return runScenario(scenario, this.#state, this.#unhandled)
  }

  async runFleet(scenario: FleetScenario): Promise<Judgement> {
    this.#unhandled.length = 0
    for (let host = this.#states.length; host < scenario.hosts.length; host += 1) {
      this.#states.push(new SimulatedState(join(this.#directory, `host-${host}`)))
    }
    return runFleetScenario(scenario, this.#states, this.#unhandled)
  }

  async runSeed(seed: number, kind: WorldKind): Promise<Judgement & { readonly cost?: Cost }> {
    if (kind === 'protocol') return runProtocol(makeProtocol(seed))
    return kind === 'fleet' ? this.runFleet(makeFleet(seed)) : this.run(makeScenario(seed))
  }

  [Symbol.dispose](): void {
    process.off('unhandledRejection', this.#onUnhandled)
    for (const state of [this.#state, ...this.#states]) state[Symbol.dispose]()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  readonly #onUnhandled = (error: unknown): void => {
    if (!(error instanceof ProcessDied)) this.#unhandled.push(error)
  }
}
