import { defineCommand } from '../../command.ts'
import { OUTPUT_OPTIONS, writeDownload } from '../../options/write-output.ts'

export const command = defineCommand({
  positionals: { id: { type: 'string', required: true, describe: 'Identifier of the asset' } },
  options: OUTPUT_OPTIONS,
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [['asset download ast_1 --output excerpt.md', 'its canonical payload']],
  exits: ['done', 'failed', 'temporary', 'refused'],
  async run(context, args) {
    await using service = await context.openService()
    await writeDownload(context, await service.client.downloadAsset(args.id, context.signal), args)
    return 'done'
  },
})
