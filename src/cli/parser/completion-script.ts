import { COMPLETION_REQUEST } from '../global-options.ts'
import { createYargs } from './create-yargs.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

type Shell = (typeof SHELLS)[number]

/** yargs' own for fish names no word that has not been begun, and hides files. */
const FISH = `# Installation: shelfd completion fish > ~/.config/fish/completions/shelfd.fish
function __shelfd_complete
    set -l offered (SHELL=fish shelfd ${COMPLETION_REQUEST} (commandline -opc) (commandline -ct))
    if test (count $offered) -gt 0
        printf '%s\\n' $offered
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c shelfd -f -a '(__shelfd_complete)'
`

/** What a shell reads to complete the command line of this program: that of yargs, which asks the program at each TAB. */
export async function renderCompletionScript(shell: Shell): Promise<string> {
  if (shell === 'fish') return FISH
  const command = `completion ${shell}`
  const yargs = createYargs({ argv: [], say: (key) => key, shell })
  yargs.scriptName('shelfd').help(false).version(false).completion(command, false)
  let script = ''
  await yargs.parseAsync([command], {}, (_error, _argv, output) => {
    script = output
  })
  // The program is asked by this shell, whichever one the user signs in with.
  return script.replace(`shelfd ${COMPLETION_REQUEST}`, `SHELL=${shell} shelfd ${COMPLETION_REQUEST}`)
}
