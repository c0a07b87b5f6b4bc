import type { LibraryProblem } from '../../../embedded/integrity/check-library.ts'
import { counted, escapeText } from '../../../foundation/text/safe-text.ts'
import { formatSize } from '../../../foundation/text/units.ts'
import { defineCommand } from '../../command.ts'

const MOST_SHOWN = 100

export const command = defineCommand({
  description:
    'Reads every page of the database, and compares the bytes of every stored file with their SHA-256. Changes nothing, and works whether or not the server runs.',
  positionals: {},
  options: {},
  settingFlags: ['data-dir'],
  examples: [
    ['serve check', 'what is wrong with the library of this user, and what to do'],
    ['serve check --data-dir ./library --json', 'counts and problems, for scripts'],
  ],
  exits: ['done', 'operator'],
  async run(context) {
    const { dataDir } = context.settings.service
    const { checkLibrary } = await import('../../../embedded/integrity/check-library.ts')
    const { contents, sizeBytes, problems } = await checkLibrary(dataDir, context.signal)
    if (context.json) context.printJson({ contents, sizeBytes, problems })
    else {
      for (const problem of problems.slice(0, MOST_SHOWN)) context.print(describe(problem))
      if (problems.length > MOST_SHOWN) context.print(`and ${problems.length - MOST_SHOWN} more`)
      const checked = `Checked ${counted(contents, 'content')} (${formatSize(sizeBytes)})`
      context.printMessage(
        `${checked}: ${problems.length === 0 ? 'nothing is wrong' : counted(problems.length, 'problem')}`,
      )
    }
    return problems.length === 0 ? 'done' : 'operator'
  },
})

function describe({ what, todo }: LibraryProblem): string {
  return `${escapeText(what)}\n    ${escapeText(todo)}`
}
