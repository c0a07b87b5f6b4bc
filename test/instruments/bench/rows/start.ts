import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Bench } from '../bench.ts'
import { mirrorTwice } from '../first-sync.ts'
import { compareInPairs } from '../pairs.ts'
import { type ResultRow, timeRow } from '../result-table.ts'
import { runProcess } from '../run-process.ts'

const PEER = 'node -e 0'
const MAX_STATUS = 4
const MAX_SYNC = 7

/** Commands that have next to nothing to do, as whole processes, beside a Node that does nothing. */
export async function start({ options, program, service, workspace }: Bench): Promise<ResultRow[]> {
  const tree = workspace.fresh('one-file')
  mkdirSync(tree)
  writeFileSync(join(tree, 'a.md'), '# The only file\n')
  const { command, env } = await mirrorTwice({ tree, program, service, workspace })
  const nothing = () => runProcess([process.execPath, '-e', '0'])
  const beside = async (work: string, ours: readonly string[], most?: number) => {
    return timeRow(work, PEER, await compareInPairs(options.runs, () => runProcess(ours, { env }), nothing), most)
  }
  const shelfd = (...argv: string[]) => [process.execPath, program, ...argv]
  return [
    await beside('start: --version', shelfd('--version')),
    await beside('start: --help', shelfd('--help')),
    await beside('start: status', shelfd('status'), MAX_STATUS),
    await beside('start: sync of one unchanged file', command, MAX_SYNC),
  ]
}
