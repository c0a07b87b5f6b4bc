import { COMPLETION_REQUEST } from '../options/global-options.ts'
import { createYargs } from './create-yargs.ts'

export const SHELLS = ['bash', 'zsh', 'fish'] as const

type Shell = (typeof SHELLS)[number]

/** Replaces yargs' script for fish, which completes no empty word and hides files. */
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

/** The completion script for a shell; it calls this program at each TAB. From yargs, except for fish. */
export async function renderCompletionScript(shell: Shell): Promise<string> {
  if (shell === 'fish') return FISH
  const command = `completion ${shell}`
  const yargs = createYargs({ argv: [], translate: (key) => key, shell })
  yargs.scriptName('shelfd').help(false).version(false).completion(command, false)
  let script = ''
  await yargs.parseAsync([command], {}, (_error, _argv, output) => {
    script = output
  })
  // Sets SHELL to this shell, because the variable has the user's login shell.
  return script.replace(`shelfd ${COMPLETION_REQUEST}`, `SHELL=${shell} shelfd ${COMPLETION_REQUEST}`)
}
