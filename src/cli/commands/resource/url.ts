import { defineCommand } from '../../command.ts'
import { printViewUrl, readView, VIEW_URL_OPTIONS } from '../../options/view-url-options.ts'

export const command = defineCommand({
  description: 'Anyone who has the URL can open it until it expires.',
  positionals: { id: { type: 'string', required: true, describe: 'Identifier of the resource' } },
  options: VIEW_URL_OPTIONS,
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [['resource url res_1 --ttl 5', 'a URL that works for five minutes']],
  exits: ['done', 'failed', 'temporary', 'refused'],
  async run(context, args) {
    await using service = await context.openService()
    printViewUrl(context, await service.client.createResourceViewUrl(args.id, readView(args), context.signal))
    return 'done'
  },
})
