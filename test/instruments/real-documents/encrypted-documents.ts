import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { findProgram } from '../../support/programs.ts'
import { extensionOf, type RealDocument } from './collect.ts'

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
export function encryptedDocuments(
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
