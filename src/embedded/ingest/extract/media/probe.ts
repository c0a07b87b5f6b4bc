import { z } from 'zod'
import { inputOf, runFfmpeg } from '../../../ffmpeg/run-ffmpeg.ts'

const tags = z.record(z.string(), z.string()).default({})
const seconds = z.coerce.number().min(0)

const probed = z.object({
  format: z.object({ duration: seconds.optional(), tags }),
  streams: z.array(
    z.object({
      index: z.int(),
      codec_type: z.string().optional(),
      codec_name: z.string().optional(),
      width: z.int().optional(),
      height: z.int().optional(),
      disposition: z.object({ attached_pic: z.int().default(0) }).optional(),
    }),
  ),
  chapters: z.array(z.object({ start_time: seconds, end_time: seconds, tags })).default([]),
})

/** A recording as ffprobe describes it; times in seconds. */
export type Probed = z.infer<typeof probed>

/** Throws MissingProgramError, or an error when the recording is damaged. */
export async function probe(path: string): Promise<Probed> {
  const shown = ['-show_format', '-show_streams', '-show_chapters', '-of', 'json']
  const json = await runFfmpeg('ffprobe', [...inputOf(path), ...shown])
  const found = probed.parse(JSON.parse(json.toString()))
  if (found.streams.length === 0) throw new Error('it has neither sound nor pictures')
  return found
}
