import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { z } from 'zod'

/** Beside what is installed: ignored by git, and gone with a clean installation. */
const FILE = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'shelfd', 'test-results.json')

const Result = z.object({ state: z.enum(['passed', 'failed', 'skipped']), at: z.iso.datetime() })
const Results = z.record(z.string(), z.record(z.string(), Result))

/** How a test ended when it ran last. */
export type TestResult = z.infer<typeof Result>

/** By file below `test/`, then by full title. */
export type TestResults = z.infer<typeof Results>

/** Everything that ran since the installation; empty when nothing did. */
export function readResults(): TestResults {
  try {
    return Results.parse(JSON.parse(readFileSync(FILE, 'utf8')))
  } catch {
    return {}
  }
}

/** Replaces what is known of these files. What was only left out this time keeps its result. */
export function keepResults(fresh: TestResults): void {
  const kept = readResults()
  for (const [file, tests] of Object.entries(fresh)) {
    const before = kept[file] ?? {}
    kept[file] = Object.fromEntries(
      Object.entries(tests).map(([title, result]) => [
        title,
        result.state === 'skipped' ? (before[title] ?? result) : result,
      ]),
    )
  }
  mkdirSync(dirname(FILE), { recursive: true })
  const part = `${FILE}.${process.pid}`
  writeFileSync(part, JSON.stringify(kept))
  renameSync(part, FILE)
}
