import { defineCommand } from '../command.ts'
import { COMPLETION_REQUEST } from '../global-options.ts'

const SHELLS = ['bash', 'zsh', 'fish'] as const

export const command = defineCommand({
  description: [
    'Prints a script for a shell. Once the shell has read it, TAB completes commands, flags, their values, and the names of the mirrors',
    'and libraries in the configuration and in earlier runs; other words are completed as files.',
  ].join('\n'),
  withoutSettings: true,
  positionals: { shell: { type: 'string', required: true, choices: SHELLS, describe: 'bash, zsh or fish' } },
  examples: [
    ['completion bash >> ~/.bashrc', 'bash, from the next terminal on'],
    ['completion zsh >> ~/.zshrc', 'zsh, below the line with compinit'],
    ['completion fish > ~/.config/fish/completions/shelfd.fish', 'fish, at once'],
  ],
  exits: ['done'],
  async run(context, { shell }) {
    context.print(renderCompletionScript(shell).trimEnd())
  },
})

type Shell = (typeof SHELLS)[number]

/** Each script calls this program at every TAB, and offers files where the program offers nothing. */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  // SHELL is set because it otherwise names the login shell; awk quotes words with blanks.
  bash: `# Installation: shelfd completion bash >> ~/.bashrc
_shelfd_complete()
{
    local offered
    mapfile -t offered < <(SHELL=bash shelfd ${COMPLETION_REQUEST} "\${COMP_WORDS[@]}")
    mapfile -t COMPREPLY < <(compgen -W "$(printf '%q ' "\${offered[@]}")" -- "\${COMP_WORDS[COMP_CWORD]}" |
        awk '/ / { print "\\""$0"\\"" } /^[^ ]+$/ { print $0 }')
}
complete -o bashdefault -o default -F _shelfd_complete shelfd
`,
  zsh: `#compdef shelfd
# Installation: shelfd completion zsh >> ~/.zshrc, below the line with compinit
_shelfd_complete()
{
    local -a offered
    offered=("\${(@f)$(SHELL=zsh shelfd ${COMPLETION_REQUEST} "\${words[@]}")}")
    if [[ -n "\${offered[1]}" ]]; then
        _describe 'values' offered
    else
        _default
    fi
}
if [[ "\${zsh_eval_context[-1]}" == "loadautofunc" ]]; then
    _shelfd_complete "$@"
else
    compdef _shelfd_complete shelfd
fi
`,
  fish: `# Installation: shelfd completion fish > ~/.config/fish/completions/shelfd.fish
function __shelfd_complete
    set -l offered (SHELL=fish shelfd ${COMPLETION_REQUEST} (commandline -opc) (commandline -ct))
    if test (count $offered) -gt 0
        printf '%s\\n' $offered
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c shelfd -f -a '(__shelfd_complete)'
`,
}

export function renderCompletionScript(shell: Shell): string {
  return SCRIPTS[shell]
}
