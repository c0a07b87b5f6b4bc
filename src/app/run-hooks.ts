import { type ChildProcess, spawn } from 'node:child_process'
import { delimiter, isAbsolute, join } from 'node:path'
import { systemCodeOf, UsageError } from '../foundation/errors.ts'
import { escapeText, truncateText } from '../foundation/text/safe-text.ts'
import { formatDuration } from '../foundation/text/units.ts'
import type { Hooks } from '../sync/engine.ts'
import { isExecutable, isThere } from './files/paths.ts'
import { assertTrustedProgram } from './files/private-files.ts'
import type { Environment } from './settings/overrides.ts'
import type { HookSettings, Settings } from './settings/settings.ts'

/** Composes the commands before and after runs from the settings; undefined when there are none. A mirror's own replace those of all. */
export function hooksOf({ hooks, mirrors }: Settings, env: Environment): Hooks | undefined {
  const own = new Map(mirrors.map((mirror) => [mirror.name, mirror.hooks]))
  const ofMirror = (name: string) => own.get(name) ?? hooks
  if (hooks === undefined && mirrors.every((mirror) => mirror.hooks === undefined)) return undefined
  return {
    has: (name) => ofMirror(name) !== undefined,
    run: async (moment, { name, path, isDryRun }, variables, signal) => {
      const settings = ofMirror(name)
      const command = settings?.[moment]
      if (!settings || !command) return undefined
      // A program does not get the token.
      const { SHELFD_TOKEN: _, ...shown } = env
      const known = { SHELFD_HOOK: moment, SHELFD_MIRROR: name, SHELFD_MIRROR_PATH: path }
      const more = { ...known, ...(isDryRun && { SHELFD_DRY_RUN: '1' }), ...variables }
      return runCommand(command, settings, { ...shown, ...more }, signal)
    },
  }
}

/** A command of the configuration that could not be run here now. */
export interface UnusableHook {
  /** Such as `mirrors.papers.hooks.before`. */
  readonly key: string
  readonly message: string
}

/** Finds the commands whose program could not be run, if their run began here now; it runs none. */
export function findUnusableHooks({ hooks, mirrors }: Settings, env: Environment): UnusableHook[] {
  const own = mirrors.map((mirror) => ({ key: `mirrors.${mirror.name}.hooks`, hooks: mirror.hooks }))
  return [{ key: 'hooks', hooks }, ...own].flatMap((each) =>
    (['before', 'after'] as const).flatMap((moment) => {
      const [program] = each.hooks?.[moment] ?? []
      const message = program === undefined ? undefined : explainProgram(program, env.PATH)
      return message === undefined ? [] : [{ key: `${each.key}.${moment}`, message }]
    }),
  )
}

/** The PATH of programs that are given none. */
const PATH = '/bin:/usr/bin'

function explainProgram(program: string, path = PATH): string | undefined {
  const name = `the command "${program}"`
  if (isAbsolute(program)) {
    if (!isThere(program)) return `${name} does not exist`
    return isExecutable(program) ? explainDistrust(program) : `${name} is no program that this user may run`
  }
  // Windows looks for it under further names.
  if (process.platform === 'win32') return undefined
  const isFound = path.split(delimiter).some((directory) => isExecutable(join(directory, program)))
  return isFound ? undefined : `${name} is in no directory of the PATH here`
}

/** Returns why a program that is named by its path is not run, since others could change it. */
function explainDistrust(program: string): string | undefined {
  try {
    if (isAbsolute(program)) assertTrustedProgram(program)
    return undefined
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}

/** What is kept of the end of a command's output. */
const KEPT_CHARACTERS = 2_000
const SHOWN_CHARACTERS = 200

/** Returns why the command failed, with the last line that it printed. */
async function runCommand(
  [program = '', ...args]: readonly string[],
  { timeoutMs }: HookSettings,
  env: Environment,
  signal: AbortSignal,
): Promise<string | undefined> {
  const distrust = explainDistrust(program)
  if (distrust !== undefined) return distrust
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true })
  let printed = ''
  for (const output of [child.stdout, child.stderr]) {
    output.setEncoding('utf8').on('data', (text: string) => {
      printed = (printed + text).slice(-KEPT_CHARACTERS)
    })
  }
  const late = AbortSignal.timeout(timeoutMs)
  const stopped = AbortSignal.any([signal, late])
  const stop = () => void child.kill('SIGKILL')
  if (stopped.aborted) stop()
  stopped.addEventListener('abort', stop, { once: true })
  try {
    const end = await ended(child)
    if (end === undefined) return undefined
    const why = late.aborted ? `did not end within ${formatDuration(timeoutMs)}` : end
    const last = printed.trim().split('\n').at(-1) ?? ''
    const said = last === '' ? '' : `: ${escapeText(truncateText(last, SHOWN_CHARACTERS))}`
    return `the command "${program}" ${why}${said}`
  } finally {
    stopped.removeEventListener('abort', stop)
    // A program that it left running may still hold them.
    child.stdout.destroy()
    child.stderr.destroy()
  }
}

/** Resolves to how it failed; undefined when it did not. */
function ended(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      const code = systemCodeOf(error)
      resolve(code === 'ENOENT' ? 'does not exist' : `cannot be run (${code ?? 'for an unknown reason'})`)
    })
    // Only `close` follows all output, but it waits for what the program left running.
    child.once('exit', (exitCode) => {
      const end = exitCode === null ? 'was stopped' : `exited with ${exitCode}`
      setImmediate(() => resolve(exitCode === 0 ? undefined : end))
    })
  })
}
