import type { Judgement } from './run-scenario.ts'
import type { Phase, Scenario } from './scenario.ts'

/** The shortest scenario found that breaks the same promise; `listShorter` gives scenarios in which less happens. */
export async function shrink<T>(
  scenario: T,
  promise: string,
  { run, listShorter }: { run(scenario: T): Promise<Judgement>; listShorter(scenario: T): Iterable<T> },
): Promise<T> {
  let shortest = scenario
  for (let isShorter = true; isShorter; ) {
    isShorter = false
    for (const candidate of listShorter(shortest)) {
      const { violation } = await run(candidate)
      if (violation?.promise !== promise) continue
      shortest = candidate
      isShorter = true
      break
    }
  }
  return shortest
}

/** Phases are left out, and lives spared, one after the other. */
export function* listShorterStories(scenario: Scenario): Generator<Scenario> {
  const { calmWatch } = scenario
  if (calmWatch) yield { ...scenario, calmWatch: null }
  for (const index of calmWatch?.changes.keys() ?? []) {
    if (calmWatch) yield { ...scenario, calmWatch: { ...calmWatch, changes: calmWatch.changes.toSpliced(index, 1) } }
  }
  for (const [index, phase] of scenario.phases.entries()) {
    yield { ...scenario, phases: scenario.phases.toSpliced(index, 1) }
    const simpler = simplify(phase)
    if (simpler) yield { ...scenario, phases: scenario.phases.with(index, simpler) }
  }
}

function simplify(phase: Phase): Phase | undefined {
  if (phase.kind === 'watch' && phase.changes.length > 0) return { ...phase, changes: phase.changes.slice(1) }
  if ((phase.kind === 'watch' || phase.kind === 'sync' || phase.kind === 'tidy') && phase.death)
    return { ...phase, death: null }
  if ((phase.kind === 'watch' || phase.kind === 'sync') && phase.fullDisk) return { ...phase, fullDisk: null }
  return undefined
}
