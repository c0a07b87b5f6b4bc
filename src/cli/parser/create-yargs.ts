/**
 * yargs as the program uses it: its factory, given our own platform in place of the one in its package. That one loads tables of
 * the widths of emoji to lay out help, at 26 of the 43 ms that yargs would add to each start; it reads the locale from the
 * environment and package.json from the disk, prints to the console and ends the process. Ours does none of it. The factory is
 * no public entry of the package, so package.json names one version of it (docs/decisions/007-yargs.md).
 */
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { Parser, type Yargs, YargsFactory } from './yargs-parts.ts'

export interface YargsInput {
  readonly argv: readonly string[]
  /** Gives every text of yargs in our words: `key` is its English text, with `%s` where `given` belongs. */
  say(key: string, given: readonly unknown[]): string
  /** For completion: `bash`, `zsh` or `fish`. */
  readonly shell?: string | undefined
  /** Where help is put together; without it there is none. */
  readonly layout?: ((width: number) => Layout) | undefined
}

/** Rows of texts, as yargs hands them over for its help. */
interface Layout {
  div(...cells: readonly unknown[]): void
  span(...cells: readonly unknown[]): void
  toString(): string
}

/** yargs puts a help text together after each command line that it reads. */
const NO_HELP: Layout = { div() {}, span() {}, toString: () => '' }

/** A parser of the command line that prints nothing, and knows no command yet. */
export function createYargs({ argv, say, shell, layout }: YargsInput): Yargs {
  return YargsFactory({
    Parser,
    cliui: ({ width }: { width: number }) => layout?.(width) ?? NO_HELP,
    stringWidth: (text: string) => text.length,
    y18n: {
      __: (key: string, ...given: unknown[]) => say(key, given),
      __n: (key: string, _many: string, _count: number, ...given: unknown[]) => say(key, given),
      getLocale: () => 'en',
      setLocale() {},
      updateLocale() {},
    },
    getEnv: (name: string) => (name === 'SHELL' ? shell : undefined),
    process: {
      argv: () => [''],
      cwd: () => '',
      execPath: () => '',
      stdColumns: null,
      nextTick: process.nextTick,
      emitWarning: refuse,
      exit: refuse,
    },
    path: { basename, dirname, extname, join, relative, resolve },
    assert: { notStrictEqual: assertDifferent, strictEqual: refuse },
    inspect: String,
    mainFilename: '',
    getProcessArgvBin: () => '',
    // yargs looks for a package.json with a version, and finds none.
    findUp: () => '',
    readFileSync: () => '{}',
    readdirSync: refuse,
    require: refuse,
    getCallerFile: refuse,
  })(argv, '')
}

function assertDifferent(actual: unknown, unwanted: unknown): void {
  if (actual === unwanted) throw new Error(`yargs expected anything but ${unwanted}`)
}

/** Stands for what yargs has no reason to do here. */
function refuse(...given: readonly unknown[]): never {
  throw new Error(`yargs asked for what it is not given: ${given.join(', ')}`)
}
