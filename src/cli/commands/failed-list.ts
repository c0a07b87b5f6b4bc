import { defineCommand } from '../command.ts'
import { readQuarantine } from '../find-quarantined.ts'
import { quarantinedJson, showQuarantine } from '../render/quarantine.ts'

export const failedListCommand = defineCommand({
  name: 'failed list',
  summary: 'List the files that were refused or could not be processed',
  description: [
    'One row a content, however many files have it: refused uploads, and resources whose ingestion ended partial, failed or',
    'unknown. Each is tried again by itself, after growing pauses. Without those set aside by "failed ignore".',
  ].join('\n'),
  positionals: {},
  options: { all: { type: 'boolean', describe: 'Also those that were set aside' } },
  examples: [
    ['failed list', 'what went wrong, since when, and when it is tried again'],
    ['failed list --all --json', 'the same for scripts, with what was set aside'],
  ],
  exits: ['done', 'operator'],
  async run(context, { all }) {
    const contents = readQuarantine(context).filter(({ isSetAside }) => all || !isSetAside)
    if (context.json) context.printJson({ contents: contents.map(quarantinedJson) })
    else if (contents.length > 0) showQuarantine(context, contents)
    else context.note('Nothing is in quarantine')
    return 'done'
  },
})
