import { chooseByPath } from '../../app/mirrors/choose-known.ts'
import { settingsOfRow } from '../../app/mirrors/choose-mirrors.ts'
import { openReader } from '../../app/open-engine.ts'
import { UsageError } from '../../foundation/errors.ts'
import { describeExplanation } from '../../sync/report/explain/describe-explanation.ts'
import { explainPath, locateResource } from '../../sync/report/explain/explain-path.ts'
import { defineCommand } from '../command.ts'
import { explanationJson } from '../render/explanation-json.ts'
import { renderFields } from '../render/layout/table.ts'

export const command = defineCommand({
  description:
    'Of a file: ignored by which rule of which file and line, left out, a copy of which file, moved where, quarantined until when, which resource it is, where that lies in the library, how its ingestion went and when that was seen. Of a directory: whether it was created in the library, and the files known below it by state.',
  positionals: {
    path: { type: 'string', required: true, describe: 'A file or directory of a mirror', placeholder: 'PATH' },
  },
  options: { offline: { type: 'boolean', describe: 'Do not ask the service where the resource lies' } },
  examples: [
    ['why ~/Papers/draft.md', 'why this file is, or is not, in the library'],
    ['why ~/Papers/drafts', 'what became of the files below this directory'],
    ['why notes/.env --json', 'the same for scripts'],
  ],
  exits: ['done', 'rootMissing', 'temporary', 'refused', 'operator'],
  async run(context, args) {
    await using reader = openReader(context.settings, {
      ...context.io,
      logger: context.logger,
      redactor: context.redactor,
    })
    if (!reader.store) throw new UsageError('unknown-mirror', 'Nothing was mirrored yet: see "shelfd sync --help"')
    const reportContext = reader.contextFor(reader.store)
    const known = reader.store.mirrors.list()
    const { row, path } = chooseByPath(context.settings, known, { word: args.path, cwd: context.io.cwd })
    const found = explainPath(reportContext, row, settingsOfRow(context.settings, known, row), path)
    const remote = args.offline ? undefined : await locateResource(reportContext, found)
    if (context.json) context.printJson(explanationJson(found, remote))
    else context.print(renderFields(describeExplanation(found, remote, reportContext.clock.nowMs())))
    return 'done'
  },
})
