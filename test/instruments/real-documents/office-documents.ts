import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findProgram } from '../../support/programs.ts'
import { extensionOf, type RealDocument } from './collect.ts'
import { type Conversion, convertAll, LIBRE_OFFICE } from './libre-office.ts'
import type { MadeDocument } from './make-documents.ts'

interface Format {
  readonly extension: string
  readonly filter: string
  /** Takes a password. */
  readonly locks?: true
  /** Nothing here reads it, so that it ends as partial. */
  readonly isUnread?: true
}

const FORMATS = {
  text: [
    { extension: 'odt', filter: 'writer8', locks: true },
    { extension: 'docx', filter: 'MS Word 2007 XML', locks: true },
    { extension: 'rtf', filter: 'Rich Text Format' },
    { extension: 'epub', filter: 'EPUB' },
    { extension: 'pdf', filter: 'writer_pdf_Export', locks: true },
    { extension: 'doc', filter: 'MS Word 97', isUnread: true },
  ],
  sheets: [
    { extension: 'ods', filter: 'calc8', locks: true },
    { extension: 'xlsx', filter: 'Calc MS Excel 2007 XML', locks: true },
    { extension: 'pdf', filter: 'calc_pdf_Export' },
    { extension: 'xls', filter: 'MS Excel 97', isUnread: true },
  ],
  slides: [
    { extension: 'odp', filter: 'impress8', locks: true },
    { extension: 'pptx', filter: 'Impress MS PowerPoint 2007 XML', locks: true },
    { extension: 'pdf', filter: 'impress_pdf_Export' },
    { extension: 'ppt', filter: 'MS PowerPoint 97', isUnread: true },
  ],
} as const satisfies Record<string, readonly Format[]>

const DECLARATION = join(import.meta.dirname, '..', 'search-quality', 'documents', 'declaration')
const LANGUAGES = ['de', 'el', 'en', 'fr', 'pl', 'ru', 'tr', 'ja']
const MOST_SOURCES = 4
const PASSWORD = 'lighthouse'

/** Documents that LibreOffice stores in each of its formats, where it takes one also with a password; none where it is not installed. */
export function officeDocuments(
  folder: string,
  collected: readonly RealDocument[],
  print: (line: string) => void,
): MadeDocument[] {
  if (!findProgram(LIBRE_OFFICE)) {
    print(`not installed: LibreOffice (${LIBRE_OFFICE}), so none of its documents are there`)
    return []
  }
  for (const name of ['LibreOffice', 'encrypted']) mkdirSync(join(folder, name), { recursive: true })
  const pathsOf = (...extensions: readonly string[]) =>
    collected
      .filter(({ path, ends }) => ends === 'searchable' && extensions.includes(extensionOf(path)))
      .slice(0, MOST_SOURCES)
      .map(({ path }) => join(folder, path))
  const declarations = LANGUAGES.map((language) => copyDeclaration(folder, language))
  const planned = [
    ...declarations.flatMap((from) => storing(folder, from, FORMATS.text, readFileSync(from, 'utf8'))),
    ...[...pathsOf('odt'), ...pathsOf('docx')].flatMap((from) => storing(folder, from, FORMATS.text)),
    ...[...pathsOf('ods'), ...pathsOf('xlsx')].flatMap((from) => storing(folder, from, FORMATS.sheets)),
    ...[...pathsOf('odp', 'otp'), ...pathsOf('pptx')].flatMap((from) => storing(folder, from, FORMATS.slides)),
  ]
  const undone = new Set(convertAll(planned))
  for (const { to } of undone) print(`LibreOffice could not store ${basename(to)}`)
  return planned.filter((each) => !undone.has(each))
}

/** Beside the folder of documents, so that it is none of them. */
function copyDeclaration(folder: string, language: string): string {
  const copy = join(folder, '..', `declaration-${language}.txt`)
  copyFileSync(join(DECLARATION, `${language}.txt`), copy)
  return copy
}

function storing(
  folder: string,
  from: string,
  formats: readonly Format[],
  text?: string,
): (Conversion & MadeDocument)[] {
  return formats.flatMap(({ extension, filter, locks, isUnread }) => {
    const name = `${basename(from)}.${extension}`
    const [open, locked] = [join('LibreOffice', name), join('encrypted', name)]
    const ends = isUnread ? 'partial' : 'searchable'
    const plain = { from, filter, to: join(folder, open), path: open, kind: 'LibreOffice', ends } as const
    const known = text === undefined ? plain : { ...plain, text }
    if (!locks) return [known]
    const to = join(folder, locked)
    return [known, { from, filter, to, path: locked, password: PASSWORD, kind: 'encrypted', ends: 'failed' } as const]
  })
}
