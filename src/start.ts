/**
 * `npm start [-- DIR --flags]`: one pass over a directory, this project's own docs by default, into the embedded library,
 * and the report. Every argument of `shelfd sync` passes through.
 */
import { fileURLToPath } from 'node:url'
import { syncCommand } from './cli/commands/sync.ts'
import { readCommandLine } from './cli/read-command-line.ts'

const given = process.argv.slice(2)
const directories = namesMirror(given) ? [] : [fileURLToPath(new URL('../docs', import.meta.url))]
process.argv.splice(2, given.length, 'sync', '--report', ...given, ...directories)
// npm runs scripts in the directory of the project; a relative directory counts from where npm was called.
if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
await import('./main.ts')

function namesMirror(argv: readonly string[]): boolean {
  try {
    const { mirrors } = readCommandLine(syncCommand, argv).args
    return Array.isArray(mirrors) && mirrors.length > 0
  } catch {
    return false // the command itself says what is wrong
  }
}
