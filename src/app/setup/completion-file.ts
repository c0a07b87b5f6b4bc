import { isAbsolute, join } from 'node:path'
import type { Surroundings } from '../settings/config-file/find-config-file.ts'

/** Shells that read completions from a directory of the user; zsh has none by itself. */
export type ReadingShell = 'bash' | 'fish'

/** The shell of the variable SHELL; undefined for another one. */
export function shellOf(shell = ''): ReadingShell | 'zsh' | undefined {
  const name = shell.slice(shell.lastIndexOf('/') + 1)
  return (['bash', 'fish', 'zsh'] as const).find((known) => known === name)
}

/** The file from which a shell reads the completion of shelfd. */
export function completionFile(shell: ReadingShell, { env, home }: Surroundings): string {
  if (shell === 'fish') return join(baseOf(env.XDG_CONFIG_HOME, home, '.config'), 'fish', 'completions', 'shelfd.fish')
  const base = baseOf(env.XDG_DATA_HOME, home, join('.local', 'share'))
  return join(base, 'bash-completion', 'completions', 'shelfd')
}

function baseOf(given: string | undefined, home: string, usual: string): string {
  return given && isAbsolute(given) ? given : join(home, usual)
}
