import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import sharp from 'sharp'
import { needs } from '../../support/needs.ts'

/** A file that ffmpeg makes. */
export function makeRecording(directory: string, ...args: readonly string[]): void {
  needs('ffmpeg', 'ffprobe')
  execFileSync('ffmpeg', ['-v', 'error', '-nostdin', ...args], { cwd: directory })
}

/** Two seconds of red and two of blue, small enough for the database. */
export const TWO_SCENES = new Uint8Array(
  readFileSync(new URL('../../contract/samples/two-scenes.mp4', import.meta.url)),
)

/** The same film in a file of its own: players skip what follows the video. */
export function largeFilm(): Uint8Array<ArrayBuffer> {
  const skipped = Buffer.alloc(100_000)
  skipped.writeUInt32BE(skipped.length)
  skipped.write('free', 4)
  return new Uint8Array(Buffer.concat([TWO_SCENES, skipped]))
}

interface Picture {
  readonly width: number
  readonly height: number
  /** The colours of five points from left to right. */
  readonly colours: readonly string[]
}

/** Returns what is to be seen in a PNG. */
export async function look(png: Uint8Array): Promise<Picture> {
  const { data, info } = await sharp(png)
    .toColourspace('srgb')
    .removeAlpha()
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  const colours = [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => {
    const at = (Math.floor(height / 2) * width + Math.floor(part * width)) * channels
    return colourOf(data[at] ?? 0, data[at + 1] ?? 0, data[at + 2] ?? 0)
  })
  return { width, height, colours }
}

function colourOf(red: number, green: number, blue: number): string {
  const strong = { red: red > 200, green: green > 100, blue: blue > 200 }
  return (
    Object.entries(strong)
      .flatMap(([name, is]) => (is ? name : []))
      .join(' ') || 'black'
  )
}
