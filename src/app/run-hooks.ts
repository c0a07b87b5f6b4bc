import { describeFailure, findProgram, type ProgramCall, runProgram } from '../foundation/run-program.ts'
import { escapeText, truncateText } from '../foundation/text/safe-text.ts'
import type { Hooks } from '../sync/engine.ts'
import type { Environment } from './settings/overrides.ts'
import type { Settings } from './settings/settings.ts'

/** Returns the commands to run around each run of a mirror: its own ones, else those for all mirrors. Undefined if there are none. */
export function hooksOf({ hooks, mirrors }: Settings, env: Environment): Hooks | undefined {
  const own = new Map(mirrors.map((mirror) => [mirror.name, mirror.hooks]))
  const ofMirror = (name: string) => own.get(name) ?? hooks
  if (hooks === undefined && mirrors.every((mirror) => mirror.hooks === undefined)) return undefined
  return {
    has: (name) => ofMirror(name) !== undefined,
    run: async (moment, { name, path, isDryRun }, variables, signal) => {
      const settings = ofMirror(name)
      const [program, ...args] = settings?.[moment] ?? []
      if (!settings || program === undefined) return undefined
      const common = { SHELFD_HOOK: moment, SHELFD_MIRROR: name, SHELFD_MIRROR_PATH: path }
      const more = { ...common, ...(isDryRun && { SHELFD_DRY_RUN: '1' }), ...variables }
      return runCommand({ program, args, env: { ...env, ...more }, timeoutMs: settings.timeoutMs, signal })
    },
  }
}

/** Returns the commands whose program could not be started here now, without starting any. */
export function findUnusableHooks({ hooks, mirrors }: Settings, env: Environment) {
  const own = mirrors.map((mirror) => ({ key: `mirrors.${mirror.name}.hooks`, hooks: mirror.hooks }))
  return [{ key: 'hooks', hooks }, ...own].flatMap((each) =>
    (['before', 'after'] as const).flatMap((moment) => {
      const [program] = each.hooks?.[moment] ?? []
      const message = program === undefined ? undefined : explainProgram(program, env.PATH)
      return message === undefined ? [] : [{ key: `${each.key}.${moment}`, message }]
    }),
  )
}

function explainProgram(program: string, path?: string): string | undefined {
  const found = findProgram(program, path)
  if ('file' in found) return undefined
  const name = `the command "${program}"`
  switch (found.kind) {
    case 'untrusted':
      return found.why
    case 'missing':
      return program.includes('/') ? `${name} does not exist` : `${name} is in no directory of the PATH here`
    default:
      return `${name} is not a program that this user may run`
  }
}

const SHOWN_CHARACTERS = 200

/** Returns why the command failed, with the last line that it printed; undefined if it succeeded. */
async function runCommand(call: ProgramCall): Promise<string | undefined> {
  const { failure, printed } = await runProgram(call)
  if (!failure) return undefined
  if (failure.kind === 'untrusted') return failure.why
  if (failure.kind === 'missing') return `the command "${call.program}" does not exist`
  const lastLine = printed.trim().split('\n').at(-1) ?? ''
  const detail = lastLine === '' ? '' : `: ${escapeText(truncateText(lastLine, SHOWN_CHARACTERS))}`
  return `the command ${describeFailure(call, failure)}${detail}`
}
