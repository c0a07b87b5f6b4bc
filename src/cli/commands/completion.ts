import { defineCommand } from '../command.ts'
import { COMPLETION_REQUEST } from '../global-options.ts'
import { createYargs } from '../parser/create-yargs.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const command = defineCommand({
  description: [
    'Prints a script for this shell. From then on TAB completes commands, flags, their values and the names of mirrors and',
    'libraries in the configuration and of earlier runs; everything else is completed as a file.',
  ].join('\n'),
  withoutSettings: true,
  positionals: { shell: { type: 'string', required: true, choices: SHELLS, describe: 'bash, zsh or fish' } },
  options: {},
  examples: [
    ['completion bash >> ~/.bashrc', 'bash, from the next terminal on'],
    ['completion zsh >> ~/.zshrc', 'zsh, below the line with compinit'],
    ['completion fish > ~/.config/fish/completions/shelfd.fish', 'fish, at once'],
  ],
  exits: ['done'],
  async run(context, { shell }) {
    context.print((await renderCompletionScript(shell)).trimEnd())
    return 'done'
  },
})

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

/** Returns the completion script for a shell, which calls this program at each TAB; from yargs, except for fish. */
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
