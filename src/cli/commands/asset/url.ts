import { UsageError } from '../../../foundation/errors.ts'
import { defineCommand } from '../../command.ts'
import { printViewUrl, readView, SECONDS_OPTION, VIEW_URL_OPTIONS } from '../../options/view-url-options.ts'

export const command = defineCommand({
  description: 'Anyone who has the URL can open it until it expires.',
  positionals: { id: { type: 'string', required: true, describe: 'Identifier of the asset' } },
  options: {
    representation: {
      type: 'string',
      choices: ['content', 'scene', 'frame'],
      default: 'content',
      describe: 'The asset itself, or of a video the collage of a scene or one frame',
    },
    at: { ...SECONDS_OPTION, describe: 'Where in the video; only with scene and frame' },
    ...VIEW_URL_OPTIONS,
  },
  settingFlags: ['data-dir', 'service-url', 'ca-file'],
  examples: [
    ['asset url ast_1', 'a URL for the asset itself'],
    ['asset url ast_1 --representation frame --at 12.5', 'a URL for one frame of a video'],
  ],
  exits: ['done', 'failed', 'temporary', 'refused'],
  async run(context, args) {
    const { id, representation, at } = args
    if ((representation === 'content') !== (at === undefined)) {
      throw new UsageError(
        'bad-usage',
        'Cannot create the URL: --at belongs to --representation scene or frame, and they need it',
      )
    }
    await using service = await context.openService()
    const view = { representation, ...(at !== undefined && { timestampSeconds: at }), ...readView(args) }
    printViewUrl(context, await service.client.createAssetViewUrl(id, view, context.signal))
    return 'done'
  },
})
