import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { extensionOf, type RealDocument } from './collect.ts'
import { encryptedDocuments } from './encrypted-documents.ts'
import { officeDocuments } from './office-documents.ts'

/** A document that was made, with the words in it where nothing else tells them. */
export interface MadeDocument extends RealDocument {
  readonly text?: string
}

const SCRIPTS = [
  'The kraken wakes at midnight',
  'Der Leuchtturmwärter schläft',
  'Маяк освещает бухту',
  '灯台守は眠っている',
]
const FORMATS: readonly (readonly [name: string, ...args: string[]])[] = [
  ['mkv', '-c:v', 'mpeg4', '-c:a', 'mp3', '-c:s', 'srt'],
  ['mp4', '-c:v', 'mpeg4', '-c:a', 'aac', '-c:s', 'mov_text'],
  ['webm', '-c:v', 'libvpx', '-c:a', 'libvorbis', '-c:s', 'webvtt'],
]

/**
 * Recordings with subtitles, pictures of pages, documents that are cut in the middle, that LibreOffice stores, and encrypted ones.
 * `print` names the programs that are not installed.
 */
export function makeDocuments(
  folder: string,
  collected: readonly RealDocument[],
  print: (line: string) => void,
): MadeDocument[] {
  return [
    ...recordings(folder),
    ...pagesAsPictures(folder, collected),
    ...cutDocuments(folder, collected),
    ...officeDocuments(folder, collected, print),
    ...encryptedDocuments(folder, collected, print),
  ]
}

function recordings(folder: string): MadeDocument[] {
  const directory = join(folder, 'video')
  mkdirSync(directory, { recursive: true })
  return SCRIPTS.flatMap((line, number) =>
    FORMATS.map(([format, ...args]) => {
      const name = `film-${number}.${format}`
      const subtitle = join(folder, '..', 'subtitle.srt')
      writeFileSync(subtitle, `1\n00:00:00,500 --> 00:00:01,500\n${line}\n`)
      const film = ['-f', 'lavfi', '-i', `testsrc=size=160x120:rate=10:duration=${2 + number}`]
      const tone = ['-f', 'lavfi', '-i', `sine=duration=${2 + number}:frequency=${440 + number}`]
      execFileSync('ffmpeg', [
        '-v',
        'error',
        '-nostdin',
        '-y',
        ...film,
        ...tone,
        '-i',
        subtitle,
        ...args,
        join(directory, name),
      ])
      return { kind: 'video', path: join('video', name), ends: 'searchable', text: line }
    }),
  )
}

/** First pages of English and German PDFs as a scanner gives them. */
function pagesAsPictures(folder: string, collected: readonly RealDocument[]): MadeDocument[] {
  const manuals = collected
    .filter(({ path }) => /(?:refcard-(?:en|de)-|fonts-sil-andika).*\.pdf$/.test(path))
    .slice(0, 6)
  mkdirSync(join(folder, 'scans'), { recursive: true })
  return manuals.map(({ path }) => {
    const file = join(folder, path)
    const stem = join('scans', basename(path, '.pdf'))
    execFileSync('pdftoppm', ['-png', '-r', '150', '-f', '1', '-l', '1', '-singlefile', file, join(folder, stem)])
    const text = execFileSync('pdftotext', ['-f', '1', '-l', '1', file, '-'], { encoding: 'utf8' })
    return { kind: 'scans', path: `${stem}.png`, ends: 'searchable', text }
  })
}

const CUT = ['pdf', 'docx', 'pptx', 'xlsx', 'odt', 'epub', 'png', 'jpg', 'mp4']

function cutDocuments(folder: string, collected: readonly RealDocument[]): MadeDocument[] {
  mkdirSync(join(folder, 'broken'), { recursive: true })
  return CUT.flatMap((extension) => {
    const whole = collected.find(({ path }) => extensionOf(path) === extension)
    if (!whole) return []
    const bytes = readFileSync(join(folder, whole.path))
    const path = join('broken', `cut ${basename(whole.path)}`)
    writeFileSync(join(folder, path), bytes.subarray(0, bytes.length / 3))
    return [{ kind: 'broken', path, ends: 'failed' }]
  })
}
