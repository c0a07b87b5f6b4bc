import { defineCommand } from '../../command.ts'
import { OUTPUT_OPTIONS, writeDownload } from '../../options/write-output.ts'

export const command = defineCommand({
  positionals: { id: { type: 'string', required: true, describe: 'Identifier of the resource' } },
  options: OUTPUT_OPTIONS,
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [
    ['resource download res_1 --output paper.pdf', 'never replaces a file without --force'],
    ['resource download res_1 | sha256sum', 'to stdout when piped'],
  ],
  exits: ['done', 'failed', 'temporary', 'refused'],
  async run(context, args) {
    await using service = await context.openService()
    await writeDownload(context, await service.client.downloadResource(args.id, context.signal), args)
    return 'done'
  },
})
