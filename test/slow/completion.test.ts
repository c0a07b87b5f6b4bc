/** TAB in real shells, with the scripts that `shelfd completion` prints. */
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'vitest'
import { type Home, temporaryHome } from '../support/home.ts'
import { needs } from '../support/needs.ts'
import { MAIN } from '../support/run-shelfd.ts'
import { openTerminal } from '../support/terminal.ts'

const PATIENCE_MS = 60_000

/** How each shell starts without its user's files, and what it prints once it has loaded the script. */
const SHELLS = [
  { shell: 'bash', start: ['bash', '--norc', '--noprofile', '-i'], load: 'PS1=; . ./script; echo rea""dy' },
  {
    shell: 'zsh',
    start: ['zsh', '-f', '-i'],
    load: 'PS1=; autoload -Uz compinit; compinit -u -D; . ./script; echo rea""dy',
  },
  { shell: 'fish', start: ['fish', '--no-config', '-i'], load: 'source ./script; echo rea""dy' },
] as const

describe.each(SHELLS)('completion in $shell', ({ shell, start, load }) => {
  test(
    `${shell} completes commands, flags and mirrors, and nothing after --`,
    async () => {
      needs(shell, 'python3')
      const home = temporaryHome()
      const { stdout: script } = await home.shelfd(['completion', shell])
      prepare(home, script)
      // The shell that the user signs in with is another one.
      const env = {
        ...home.env,
        PATH: `${home.path}/bin:${home.env.PATH}`,
        TERM: 'xterm',
        SHELL: shell === 'zsh' ? '/bin/bash' : '/bin/zsh',
      }
      const terminal = openTerminal([], { env, path: home.path, program: start })
      terminal.type(`${load}\r`)
      await terminal.shows('ready')
      for (const [typed, completed] of [
        ['shelfd statu\t', 'status'],
        ['shelfd mirrors sho\t', 'mirrors show'],
        ['shelfd sync --dry\t', 'sync --dry-run'],
        ['shelfd report --format comb\t', 'report --format combined'],
        ['shelfd sync pape\t', 'sync papers'],
        ['shelfd sync Fol\t', 'sync Folder/?'],
        ['shelfd sync -- --dry\t', 'sync -- --dry'],
      ]) {
        terminal.type(`${typed}\r`)
        await terminal.shows(new RegExp(`ran <${completed}>`))
      }
      terminal.type('exit\r')
      await terminal.ended
    },
    PATIENCE_MS,
  )
})

/** A home with a mirror, a folder, and a `shelfd` that answers at TAB and otherwise prints its arguments. */
function prepare(home: Home, script: string): void {
  home.write('config/shelfd', { 'config.yaml': 'mirrors: [{ name: papers, path: ~/Papers }]\n' })
  const program = `exec '${process.execPath}' '${MAIN}' "$@"`
  home.write('bin', { shelfd: `#!/bin/sh\ncase $1 in --get*) ${program};; esac\necho "ran <$*>"\n` })
  chmodSync(join(home.path, 'bin', 'shelfd'), 0o755)
  home.write('Folder', { 'a.md': 'A' })
  home.write('.', { script })
}
