/**
 * Runs `npm start [-- DIR --flags]`: syncs a directory, by default this project's docs, into the embedded library, and prints the report.
 * It accepts every argument of `shelfd sync`. `npm start -- search "…"`, or any other command, uses the same library. The state, the
 * library, the cache and a separate configuration are in `.shelfd` of the checkout, so that the user's own mirrors are not touched;
 * flags and variables take precedence.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { didYouMean } from './app/did-you-mean.ts'
import { isThere } from './app/files/paths-on-disk.ts'
import { commands } from './cli/commands.ts'
import { flagForWord } from './cli/global-options.ts'
import { findCommand } from './cli/parser/find-command.ts'
import { readCommandLine } from './cli/parser/read-command-line.ts'

const WITHOUT_PICTURES =
  'The pictures of the docs are left out (docs/.shelfdignore):\nrecognizing the words in them takes longer than everything else.\n'

const checkout = fileURLToPath(new URL('..', import.meta.url))
process.env.SHELFD_STATE_DIR ||= join(checkout, '.shelfd', 'state')
process.env.SHELFD_DATA_DIR ||= join(checkout, '.shelfd', 'library')
// The cache of compiled code is here too, so that it is removed with the other data of the checkout.
process.env.XDG_CACHE_HOME = join(checkout, '.shelfd', 'cache')
process.env.SHELFD_CONFIG ||= ownConfiguration(join(checkout, '.shelfd'))

const given = process.argv.slice(2)
const isCommand = findCommand(given).path.length > 0 || flagForWord(given) !== given
if (!isCommand && !isMistyped(given[0])) {
  const directories = (await namesMirror(given)) ? [] : [join(checkout, 'docs')]
  if (directories.length > 0) process.stderr.write(WITHOUT_PICTURES)
  process.argv.splice(2, given.length, 'sync', '--report', ...given, ...directories)
}
// npm runs scripts in the directory of the project; relative paths refer to where npm was called.
if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD)
await import('./main.ts')

/** Returns the configuration file of the checkout, which `config set` and the dashboard change; creates it if it is missing. */
function ownConfiguration(directory: string): string {
  const file = join(directory, 'config.yaml')
  const comment =
    '# `npm start` reads this file instead of your configuration. What is not set here has its default: the library is on this computer.\n'
  if (!isThere(file)) {
    mkdirSync(directory, { recursive: true })
    writeFileSync(file, comment, { mode: 0o600 })
  }
  return file
}

/** Returns whether a word resembles the name of a command, which `main.ts` then suggests, and is not the path of a file. */
function isMistyped(word = ''): boolean {
  if (!/^[a-z][a-z-]*$/.test(word) || isThere(resolve(process.env.INIT_CWD ?? '', word))) return false
  const names = commands.map(({ name }) => name.split(' ')[0] ?? '')
  return didYouMean(word, names) !== ''
}

async function namesMirror(argv: readonly string[]): Promise<boolean> {
  try {
    const found = findCommand(['sync', ...argv])
    const read = await readCommandLine(found, await found.entry?.load())
    return Array.isArray(read?.args.mirrors) && read.args.mirrors.length > 0
  } catch {
    return false // the command itself reports the error
  }
}
