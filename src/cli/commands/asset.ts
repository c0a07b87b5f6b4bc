import { UsageError } from '../../foundation/errors.ts'
import { type Command, defineCommand } from '../command.ts'
import { ASKS_SERVICE } from '../global-options.ts'
import {
  OUTPUT_OPTIONS,
  printViewUrl,
  readView,
  SECONDS_OPTION,
  VIEW_URL_OPTIONS,
  writeDownload,
} from '../render/print-download.ts'

const ID = { type: 'string', required: true, describe: 'Identifier of the asset' } as const

export const downloadCommand = defineCommand({
  positionals: { id: ID },
  options: OUTPUT_OPTIONS,
  ...ASKS_SERVICE,
  examples: [['asset download ast_1 --output excerpt.md', 'its canonical payload']],
  async run(context, args) {
    await using service = await context.openService()
    await writeDownload(context, await service.client.downloadAsset(args.id, context.signal), args)
  },
})

export const urlCommand = defineCommand({
  description: 'Anyone who has the URL can open it until it expires.',
  positionals: { id: ID },
  options: {
    representation: {
      type: 'string',
      choices: ['content', 'scene', 'frame'],
      default: 'content',
      describe: 'The asset itself, or the collage of a scene or one frame of a video',
    },
    at: { ...SECONDS_OPTION, describe: 'Where in the video; only with scene and frame' },
    ...VIEW_URL_OPTIONS,
  },
  ...ASKS_SERVICE,
  examples: [
    ['asset url ast_1', 'a URL for the asset itself'],
    ['asset url ast_1 --representation frame --at 12.5', 'a URL for one frame of a video'],
  ],
  async run(context, args) {
    const { id, representation, at } = args
    if ((representation === 'content') !== (at === undefined)) {
      throw new UsageError(
        'bad-usage',
        'Cannot create the URL: --representation scene and frame need --at, and content has no --at',
      )
    }
    await using service = await context.openService()
    const view = { representation, ...(at !== undefined && { timestampSeconds: at }), ...readView(args) }
    printViewUrl(context, await service.client.createAssetViewUrl(id, view, context.signal))
  },
})

export const sceneCommand = definePictureCommand('scene')
export const frameCommand = definePictureCommand('frame')

function definePictureCommand(representation: 'scene' | 'frame'): Command {
  return defineCommand({
    positionals: { id: { type: 'string', required: true, describe: 'Identifier of the asset, a video' } },
    options: { at: { ...SECONDS_OPTION, required: true, describe: 'Where in the video' }, ...OUTPUT_OPTIONS },
    ...ASKS_SERVICE,
    examples: [[`asset ${representation} ast_1 --at 12.5 --output picture.png`, 'a PNG']],
    async run(context, args) {
      await using service = await context.openService()
      const picture = await service.client.downloadRepresentation(args.id, representation, args.at, context.signal)
      await writeDownload(context, picture, args)
    },
  })
}
