import { typedProgram } from '../foundation/typed-program.ts'
import { commands } from './commands.ts'

const NAMES = [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join('|')
/** A command in a message: behind a mark or a word that introduces one, so that hardly a file name matches. */
const COMMAND = new RegExp(`(?<=^ *|["(]|: |, |· |&& |see )shelfd (?=(?:${NAMES})\\b)`, 'gm')

/**
 * Returns what writes the commands in a text as they are typed in a checkout of this project, where there is no program `shelfd`;
 * undefined where this script is of no checkout.
 */
export function typedInCheckout(script: string, directory: string): ((text: string) => string) | undefined {
  const program = typedProgram(script, directory)
  return program === 'shelfd' ? undefined : (text) => text.replaceAll(COMMAND, () => `${program} `)
}
