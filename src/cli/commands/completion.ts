import { defineCommand } from '../command.ts'
import { renderCompletionScript, SHELLS } from '../parser/completion-script.ts'

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
