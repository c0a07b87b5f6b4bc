import { escapeText, shellWord } from '../foundation/text/safe-text.ts'
import { typedProgram } from '../foundation/typed-program.ts'
import { commands } from './commands.ts'
import type { GlobalFlags } from './context.ts'
import type { CliIo } from './terminal/cli-io.ts'

const NAMES = [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join('|')
/** Matches a command in a message only after a mark or word that introduces one, so that hardly any file name matches. */
const COMMAND = new RegExp(`(?<=^ *|["(]|: |, |· |&& |see )shelfd (?=(?:${NAMES})\\b)`, 'gm')

/** Returns a function that replaces `shelfd` in messages by what is typed in a checkout; undefined outside of a checkout. */
export function typedInCheckout(script: string, directory: string): CliIo['asTyped'] {
  const program = typedProgram(script, directory)
  return program === 'shelfd' ? undefined : (text) => text.replaceAll(COMMAND, () => `${program} `)
}

/** Returns an `io` that adds the given `--config` and `--state-dir` to commands in messages, so that they act on the same state. */
export function withTypedFlags(io: CliIo, { config, settingFlags }: GlobalFlags): CliIo {
  const values = Object.entries({ config, 'state-dir': settingFlags['state-dir'] })
  const flags = values.flatMap(([flag, value]) =>
    value === undefined ? [] : [`--${flag} ${shellWord(escapeText(value))} `],
  )
  if (flags.length === 0) return io
  const { asTyped = String } = io
  const typed = asTyped('shelfd sync').replace(/sync$/, () => flags.join(''))
  return { ...io, asTyped: (text) => text.replaceAll(COMMAND, () => typed) }
}
