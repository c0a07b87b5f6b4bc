/** A supervisor's plan in this process. */
import type { SupervisedMirror, SupervisorPlan } from '../../src/daemon/supervisor.ts'
import type { Engine } from '../../src/sync/engine.ts'

/** A plan on an engine that outlives it. */
export function supervisorPlan(
  given: Engine,
  mirrors: readonly (Pick<SupervisedMirror, 'controller'> & Partial<SupervisedMirror>)[] = [],
): SupervisorPlan {
  const controller = new AbortController()
  return {
    engine: { ...given, signal: AbortSignal.any([given.signal, controller.signal]) },
    abort: (reason) => controller.abort(reason),
    mirrors: mirrors.map((mirror) => ({ schedule: null, maxDurationMs: null, ...mirror })),
    timeZone: undefined,
    maintenance: [],
    admit: (asked) => asked,
    [Symbol.asyncDispose]: async () => {},
  }
}
