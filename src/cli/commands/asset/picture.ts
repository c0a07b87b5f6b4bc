import { type Command, defineCommand } from '../../command.ts'
import { SECONDS_OPTION } from '../../options/view-url-options.ts'
import { OUTPUT_OPTIONS, writeDownload } from '../../options/write-output.ts'

/** Defines the command that downloads a scene or frame of a video. */
export function definePictureCommand(representation: 'scene' | 'frame'): Command {
  return defineCommand({
    positionals: { id: { type: 'string', required: true, describe: 'Identifier of the asset, a video' } },
    options: {
      at: { ...SECONDS_OPTION, required: true, describe: 'Where in the video' },
      ...OUTPUT_OPTIONS,
    },
    settingFlags: ['data-dir', 'service-url', 'ca-file'],
    examples: [[`asset ${representation} ast_1 --at 12.5 --output picture.png`, 'a PNG']],
    exits: ['done', 'failed', 'temporary', 'refused'],
    async run(context, args) {
      await using service = await context.openService()
      const { client } = service
      await writeDownload(
        context,
        await client.downloadRepresentation(args.id, representation, args.at, context.signal),
        args,
      )
      return 'done'
    },
  })
}
