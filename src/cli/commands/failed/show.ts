import { defineCommand } from '../../command.ts'
import { quarantinedJson, renderQuarantined } from '../../render/quarantine.ts'
import { findQuarantined } from './find-quarantined.ts'

export const command = defineCommand({
  positionals: {
    content: {
      type: 'string',
      required: true,
      describe: 'A file, a directory, or the beginning of a SHA-256',
      placeholder: 'PATH|SHA256',
    },
  },
  options: {},
  examples: [
    ['failed show ~/Papers/scan.pdf', 'why this file is not searchable'],
    ['failed show 9f86d081884c --json', 'by its content, for scripts'],
  ],
  exits: ['done', 'operator'],
  async run(context, { content }) {
    const found = findQuarantined(context, [content])
    if (context.json) context.printJson({ contents: found.map(quarantinedJson) })
    else context.print(found.map(renderQuarantined).join('\n\n'))
    return 'done'
  },
})
