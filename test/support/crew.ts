/** A crew's plan in this process. */
import type { CrewMirror, CrewPlan } from '../../src/daemon/crew.ts'
import type { Engine } from '../../src/sync/engine.ts'

/** A plan on an engine that outlives it. */
export function crewPlan(
  given: Engine,
  mirrors: readonly (Pick<CrewMirror, 'keeper'> & Partial<CrewMirror>)[] = [],
): CrewPlan {
  const controller = new AbortController()
  return {
    engine: { ...given, signal: AbortSignal.any([given.signal, controller.signal]) },
    abort: (reason) => controller.abort(reason),
    mirrors: mirrors.map((mirror) => ({ schedule: null, maxDurationMs: null, ...mirror })),
    timeZone: undefined,
    maintenance: [],
    lendLibrary: async () => null,
    [Symbol.asyncDispose]: async () => {},
  }
}
