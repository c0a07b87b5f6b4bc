import type { Bench } from '../bench.ts'
import { compileModule } from '../compiled-module.ts'
import { mirrorTwice } from '../first-sync.ts'
import { startNullService } from '../null-service.ts'
import { compareInPairs } from '../pairs.ts'
import { type ResultRow, timeRow } from '../result-table.ts'
import { runProcess } from '../run-process.ts'

const LIST = new URL('../children/list-library.ts', import.meta.url)
const MOST = 1.5
/** The default of `limits.transfers`, by which a report lists. */
const CONNECTIONS = 4

/** The report of the whole tree, beside a process that makes the same requests for the listing and does nothing else. */
export async function report(bench: Bench): Promise<ResultRow[]> {
  const { tree, program, workspace, options } = bench
  // Its own service: the library of another row's tree would be listed as well.
  using service = await startNullService({ listsUploads: true })
  const { env } = await mirrorTwice({ tree, program, service, workspace })
  const script = await compileModule(program, LIST)
  const bare = () => runProcess([process.execPath, script, service.url, String(CONNECTIONS)])
  const rows: ResultRow[] = []
  for (const format of ['text', 'json']) {
    const command = [process.execPath, program, 'report', '--format', format]
    const compared = await compareInPairs(options.runs, () => runProcess(command, { env, quiet: true }), bare)
    rows.push(timeRow(`report, ${format}`, 'bare listing', compared, MOST))
  }
  return rows
}
