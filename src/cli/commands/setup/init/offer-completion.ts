import { writePrivateFile } from '../../../../app/files/write-private.ts'
import { completionFile, shellOf } from '../../../../app/setup/completion-file.ts'
import { renderCompletionScript } from '../../../parser/completion-script.ts'
import type { Wizard } from './wizard.ts'

/** Installs completion for the user's shell if the user agrees; returns the file of the script, or null. */
export async function offerCompletion({ context, flags, prompts }: Wizard): Promise<string | null> {
  const { io } = context
  const shell = shellOf(io.env.SHELL)
  if (flags.installCompletion === 'no' || (!shell && flags.installCompletion === undefined)) return null
  if (!shell || shell === 'zsh') {
    context.printMessage('For completion: shelfd completion zsh >> ~/.zshrc (below the line with compinit)')
    return null
  }
  const question = `Complete commands with TAB in ${shell}?`
  if (flags.installCompletion !== 'yes' && !(await prompts?.confirm(question, true))) return null
  const file = completionFile(shell, io)
  writePrivateFile(file, await renderCompletionScript(shell))
  context.printMessage(`Wrote ${file}: TAB completes in the next terminal`)
  return file
}
