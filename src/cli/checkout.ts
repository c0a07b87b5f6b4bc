import { typedProgram } from '../foundation/typed-program.ts'
import { commands } from './commands.ts'

const NAMES = [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join('|')
/** Matches a command in a message only after a mark or word that introduces one, so that hardly any file name matches. */
const COMMAND = new RegExp(`(?<=^ *|["(]|: |, |· |&& |see )shelfd (?=(?:${NAMES})\\b)`, 'gm')

/** Replaces `shelfd` in messages by what is typed in a checkout; undefined outside of one. */
export function typedInCheckout(script: string, directory: string): ((text: string) => string) | undefined {
  const program = typedProgram(script, directory)
  return program === 'shelfd' ? undefined : (text) => text.replaceAll(COMMAND, () => `${program} `)
}
