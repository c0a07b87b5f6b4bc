import { globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { mimeOf } from '../../../src/contract/mime.ts'
import { makePdf } from '../../embedded/ingest/make-pdf.ts'
import type { RealFile } from '../../support/any-request.ts'

const MAX_BYTES = 2 * 2 ** 20

export const FILM = new Uint8Array(readFileSync(new URL('../../contract/samples/two-scenes.mp4', import.meta.url)))

/** The files of a folder up to 2 MiB; without a folder a PDF and a film. */
export function readFiles(folder: string | undefined): RealFile[] {
  if (folder === undefined) {
    return [
      { type: 'application/pdf', bytes: makePdf([{ lines: ['zebra'] }]) },
      { type: 'video/mp4', bytes: FILM },
    ]
  }
  return globSync('**/*', { cwd: folder })
    .map((path) => join(folder, path))
    .filter((path) => statSync(path).isFile() && statSync(path).size <= MAX_BYTES)
    .sort()
    .map((path) => ({ type: mimeOf(path), bytes: readFileSync(path) }))
}
