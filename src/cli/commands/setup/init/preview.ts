import type { Draft } from '../../../../app/setup/draft.ts'
import { messageOf, ShelfdError } from '../../../../foundation/errors.ts'
import { escapeText } from '../../../../foundation/text/safe-text.ts'
import { commands } from '../../../commands.ts'
import { createContext } from '../../../context.ts'
import { findCommand } from '../../../parser/find-command.ts'
import { readCommandLine } from '../../../parser/read-command-line.ts'
import type { TypedToken, Wizard } from './wizard.ts'

/** Shows what a first sync would send: a dry run with the drafted configuration, which sends nothing. */
export async function preview({ context }: Wizard, draft: Draft, token: TypedToken | undefined): Promise<void> {
  const { command: sync } = await import('../../sync.ts')
  const read = await readCommandLine(findCommand(['sync', '--dry-run', '--allow-root'], commands), sync)
  if (!read) throw new Error('The dry run has no command line')
  const env = token ? { ...context.io.env, SHELFD_TOKEN: token.text } : context.io.env
  // What the dry run prints is a message here.
  const io = { ...context.io, env, stdout: context.io.stderr }
  const flags = { ...read.flags, quiet: context.quiet, verbosity: context.verbosity }
  const shown = createContext(io, flags, () => draft.readSettings())
  try {
    await sync.run(shown, read.args)
  } catch (error) {
    // The configuration may be right nevertheless, as beside a library that holds the directory already.
    if (!(error instanceof ShelfdError) || error.reaction === 'interrupted') throw error
    context.printMessage(`Cannot preview what would be sent: ${escapeText(messageOf(error))}`)
  }
}
