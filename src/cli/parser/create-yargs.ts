/**
 * Creates yargs by its factory with our own platform. The package's platform loads tables of the widths of emoji for help,
 * at 26 of the 43 ms that yargs would add to each start; it reads the locale from the environment and package.json from the
 * disk, prints to the console and ends the process. Ours does none of this. The factory is no public entry of the package,
 * so package.json pins one version (docs/decisions/007-yargs.md).
 */
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { Parser, type Yargs, YargsFactory } from './yargs-parts.ts'

export interface YargsInput {
  readonly argv: readonly string[]
  /** Returns a text of yargs in our words: `key` is its English text, with `%s` in place of `given`. */
  translate(key: string, given: readonly unknown[]): string
  /** For completion: `bash`, `zsh` or `fish`. */
  readonly shell?: string | undefined
  /** Creates the layout of the help text; without it the help is empty. */
  readonly layout?: ((width: number) => Layout) | undefined
}

/** The layout that yargs fills with rows of its help. */
interface Layout {
  div(...cells: readonly unknown[]): void
  span(...cells: readonly unknown[]): void
  toString(): string
}

/** Discards the help text that yargs builds for each command line. */
const NO_HELP: Layout = { div() {}, span() {}, toString: () => '' }

/** Creates a parser without commands that prints nothing. */
export function createYargs({ argv, translate: say, shell, layout }: YargsInput): Yargs {
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
    // yargs searches a package.json with a version; these functions let it find none.
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

/** Replaces functions that yargs has no reason to call here. */
function refuse(...given: readonly unknown[]): never {
  throw new Error(`yargs asked for what it is not given: ${given.join(', ')}`)
}
