import { fileURLToPath } from 'node:url'
import type { ChildMeasure } from './children/bench-engine.ts'
import { runProcess } from './run-process.ts'

/** Runs a part of the benchmark in a process of its own and gives what it measured inside. */
export async function runChild<Measured extends ChildMeasure = ChildMeasure>(
  script: URL,
  input: object,
): Promise<Measured> {
  const { stdout } = await runProcess([process.execPath, fileURLToPath(script), JSON.stringify(input)])
  return JSON.parse(stdout)
}
