import { commands } from './commands.ts'

const NAMES = [...new Set(commands.map(({ name }) => name.split(' ')[0]))].join('|')
/** A command in a message: behind a mark or a word that introduces one, so that hardly a file name matches. */
const COMMAND = new RegExp(`(?<=^ *|["(]|: |, |· |&& |see )shelfd (?=(?:${NAMES})\\b)`, 'gm')

/**
 * Returns what writes the commands in a text as they are typed in a checkout of this project, where there is no program `shelfd`;
 * undefined where this script is of no checkout.
 */
export function typedInCheckout(script: string, directory: string): ((text: string) => string) | undefined {
  const program = programOf(script, directory)
  return program === undefined ? undefined : (text) => text.replaceAll(COMMAND, () => `${program} `)
}

function programOf(script: string, directory: string): string | undefined {
  const [, checkout, name] = /^(.*[/\\])src[/\\](start|main)\.ts$/.exec(script) ?? []
  if (checkout === undefined) return undefined
  if (name === 'start') return 'npm start --'
  const from = `${directory}/` === checkout ? '' : checkout
  return `${from}node_modules/.bin/node ${from}src/main.ts`
}
