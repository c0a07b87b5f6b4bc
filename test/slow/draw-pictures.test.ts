import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ProgramFailedError } from '../../src/embedded/read-by-program.ts'
import { drawFrame, findChanges } from '../../src/embedded/video/video-pictures.ts'
import { temporaryDirectory } from '../embedded/temporary-library.ts'
import { look, makeRecording, TWO_SCENES } from '../embedded/video/film.ts'
import { needs } from '../support/needs.ts'

const { signal } = new AbortController()

/** Five frames a second: six seconds of red, then blue; only the first frame can be decoded without others. */
const LONG_SCENES = [
  ...['-f', 'lavfi', '-i', 'color=red:size=64x48:rate=5:duration=6'],
  ...['-f', 'lavfi', '-i', 'color=blue:size=64x48:rate=5:duration=6'],
  ...['-filter_complex', '[0][1]concat', '-g', '1000'],
]

async function colourAt(path: string, type: string, momentMs: number) {
  return (await look(await drawFrame({ path, type }, momentMs, signal))).colours[0]
}

test.each([
  ['a.ts', 'video/mp2t', 'mpeg2video'],
  ['a.mpg', 'video/mpeg', 'mpeg2video'],
  ['a.mkv', 'video/x-matroska', 'mpeg4'],
  ['a.avi', 'video/x-msvideo', 'mpeg4'],
])('the frames of %s are those of their moments', async (name, type, codec) => {
  const directory = temporaryDirectory()
  makeRecording(directory, ...LONG_SCENES, '-c:v', codec, '-sc_threshold', '1000000000', name)
  const path = join(directory, name)
  const colours: unknown[] = []
  for (const momentMs of [0, 5_900, 6_000, 11_900]) colours.push(await colourAt(path, type, momentMs))
  expect(colours).toEqual(['red', 'red', 'blue', 'blue'])
})

test('a slide that stands for long is shown until the next one', async () => {
  const directory = temporaryDirectory()
  const slides = ['red', 'blue'].flatMap((colour) => [
    '-f',
    'lavfi',
    '-i',
    `color=${colour}:size=64x48:rate=1/20:duration=40`,
  ])
  makeRecording(directory, ...slides, '-filter_complex', '[0][1]concat', '-fps_mode', 'vfr', 'a.mp4')
  const path = join(directory, 'a.mp4')
  expect([await colourAt(path, 'video/mp4', 39_999), await colourAt(path, 'video/mp4', 40_000)]).toEqual([
    'red',
    'blue',
  ])
  const video = { path, type: 'video/mp4' }
  const found = [
    await findChanges(video, { startMs: 0, endMs: 30_000 }, signal),
    await findChanges(video, { startMs: 30_000, endMs: 60_000 }, signal),
  ]
  expect(found).toEqual([[], [40_000]])
})

test('a broken video gives no picture', async () => {
  needs('ffmpeg', 'ffprobe')
  const path = join(temporaryDirectory(), 'a.mp4')
  writeFileSync(path, TWO_SCENES.subarray(0, TWO_SCENES.length / 2))
  await expect(drawFrame({ path, type: 'video/mp4' }, 0, signal)).rejects.toThrow(ProgramFailedError)
})
