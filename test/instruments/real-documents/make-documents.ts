import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { findProgram } from '../../support/programs.ts'
import { extensionOf, type RealDocument } from './collect.ts'
import { officeDocuments } from './office-documents.ts'

/** A document that was made, with the words in it where nothing else names them. */
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
    // The part of a photograph that is there is shown, as browsers show it.
    return [{ kind: 'broken', path, ends: extension === 'jpg' ? 'partial' : 'failed' }]
  })
}

const PASSWORD = 'lighthouse'
const ARCHIVES = ['epub', 'docx', 'pptx', 'xlsx', 'odt']
/** Arguments of `qpdf --encrypt`: with the first three nobody reads the PDF without the password, with the last everybody does. */
const PDF_ENCRYPTION = [
  { name: 'RC4 40', args: ['--allow-weak-crypto', '--encrypt', PASSWORD, 'owner', '40'], ends: 'failed' },
  { name: 'AES 128', args: ['--encrypt', PASSWORD, 'owner', '128', '--use-aes=y'], ends: 'failed' },
  { name: 'AES 256', args: ['--encrypt', PASSWORD, 'owner', '256'], ends: 'failed' },
  { name: 'no printing', args: ['--encrypt', '', 'owner', '256', '--print=none'], ends: 'searchable' },
] as const

/** Collected documents, encrypted by programs of Debian: archives by `zip`, PDF by `qpdf`. */
function encryptedDocuments(
  folder: string,
  collected: readonly RealDocument[],
  print: (line: string) => void,
): RealDocument[] {
  mkdirSync(join(folder, 'encrypted'), { recursive: true })
  const installed = ['zip', 'qpdf'].filter((program) => {
    if (!findProgram(program)) print(`not installed: ${program}, so no documents are there that it encrypts`)
    return findProgram(program) !== undefined
  })
  return [
    ...(installed.includes('zip') ? lockedArchives(folder, collected) : []),
    ...(installed.includes('qpdf') ? lockedPdfs(folder, collected) : []),
  ]
}

function lockedArchives(folder: string, collected: readonly RealDocument[]): RealDocument[] {
  return ARCHIVES.flatMap((extension) => {
    const open = collected.find(({ path, ends }) => ends === 'searchable' && extensionOf(path) === extension)
    if (!open) return []
    const path = join('encrypted', `zip ${basename(open.path)}`)
    const unpacked = mkdtempSync(join(tmpdir(), 'unpacked-'))
    execFileSync('unzip', ['-q', join(folder, open.path), '-d', unpacked])
    execFileSync('zip', ['-q', '-r', '-P', PASSWORD, join(folder, path), '.'], { cwd: unpacked })
    rmSync(unpacked, { recursive: true })
    return [{ kind: 'encrypted', path, ends: 'failed' }]
  })
}

function lockedPdfs(folder: string, collected: readonly RealDocument[]): RealDocument[] {
  const open = collected.find(({ kind, path }) => kind === 'PDF' && /refcard-en/.test(path))
  if (!open) return []
  return PDF_ENCRYPTION.map(({ name, args, ends }) => {
    const path = join('encrypted', `${name} ${basename(open.path)}`)
    execFileSync('qpdf', [...args, '--', join(folder, open.path), join(folder, path)])
    return { kind: ends === 'failed' ? 'encrypted' : 'PDF', path, ends }
  })
}
