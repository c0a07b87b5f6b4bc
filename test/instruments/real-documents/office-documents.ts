import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findProgram } from '../../support/programs.ts'
import { BY_CATDOC, extensionOf, type RealDocument } from './collect.ts'
import type { MadeDocument } from './make-documents.ts'

interface Format {
  readonly extension: string
  readonly filter: string
  /** Takes a password. */
  readonly locks?: true
  /** Searchable unless it says otherwise. */
  readonly ends?: 'searchable' | 'partial'
}

const FORMATS = {
  text: [
    { extension: 'odt', filter: 'writer8', locks: true },
    { extension: 'docx', filter: 'MS Word 2007 XML', locks: true },
    { extension: 'rtf', filter: 'Rich Text Format' },
    { extension: 'epub', filter: 'EPUB' },
    { extension: 'pdf', filter: 'writer_pdf_Export', locks: true },
    { extension: 'doc', filter: 'MS Word 97', ends: BY_CATDOC },
  ],
  sheets: [
    { extension: 'ods', filter: 'calc8', locks: true },
    { extension: 'xlsx', filter: 'Calc MS Excel 2007 XML', locks: true },
    { extension: 'pdf', filter: 'calc_pdf_Export' },
    { extension: 'xls', filter: 'MS Excel 97', ends: BY_CATDOC },
  ],
  slides: [
    { extension: 'odp', filter: 'impress8', locks: true },
    { extension: 'pptx', filter: 'Impress MS PowerPoint 2007 XML', locks: true },
    { extension: 'pdf', filter: 'impress_pdf_Export' },
    { extension: 'ppt', filter: 'MS PowerPoint 97' },
  ],
} as const satisfies Record<string, readonly Format[]>

const DECLARATION = join(import.meta.dirname, '..', 'search-quality', 'documents', 'declaration')
const LANGUAGES = ['de', 'el', 'en', 'fr', 'pl', 'ru', 'tr', 'ja']
const MAX_SOURCES = 4
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
      .slice(0, MAX_SOURCES)
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
  return formats.flatMap(({ extension, filter, locks, ends = 'searchable' }) => {
    const name = `${basename(from)}.${extension}`
    const [open, locked] = [join('LibreOffice', name), join('encrypted', name)]
    const plain = { from, filter, to: join(folder, open), path: open, kind: 'LibreOffice', ends } as const
    const known = text === undefined ? plain : { ...plain, text }
    if (!locks) return [known]
    const to = join(folder, locked)
    return [known, { from, filter, to, path: locked, password: PASSWORD, kind: 'encrypted', ends: 'failed' } as const]
  })
}

/** A document that LibreOffice opens and stores in another format, with a password where one is given. */
interface Conversion {
  readonly from: string
  readonly to: string
  /** A name of LibreOffice's: what it stores the format by. */
  readonly filter: string
  readonly password?: string
}

/** Its program; Debian's packages libreoffice-writer-nogui, -calc-nogui and -impress-nogui have it. */
const LIBRE_OFFICE = 'soffice'
const TIMEOUT_MS = 15 * 60_000

/** Runs all conversions in one LibreOffice with a profile of its own; returns those that it did not do. */
function convertAll(conversions: readonly Conversion[]): Conversion[] {
  const profile = mkdtempSync(join(tmpdir(), 'office-profile-'))
  const run = (...args: readonly string[]) => {
    const installation = `-env:UserInstallation=${pathToFileURL(profile).href}`
    const options = ['--headless', '--norestore', installation, ...args]
    execFileSync(LIBRE_OFFICE, options, { stdio: 'ignore', timeout: TIMEOUT_MS })
  }
  try {
    // The first start fills the profile, and would replace our module.
    run('--terminate_after_init')
    writeFileSync(join(profile, 'user', 'basic', 'Standard', 'Module1.xba'), moduleOf(conversions))
    run('macro:///Standard.Module1.Main')
  } finally {
    rmSync(profile, { recursive: true, force: true })
  }
  return conversions.filter(({ to }) => !existsSync(to))
}

/** Its command line has no option for passwords, its Basic has. */
function moduleOf(conversions: readonly Conversion[]): string {
  const calls = conversions.map(
    ({ from, to, filter, password = '' }) =>
      `Store(${[pathToFileURL(from).href, pathToFileURL(to).href, filter, password].map(quoted).join(', ')})`,
  )
  const source = `${STORE}\nSub Main\n${calls.join('\n')}\nEnd Sub\n`.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
  const attributes =
    'xmlns:script="http://openoffice.org/2000/script" script:name="Module1" script:language="StarBasic"'
  return `<?xml version="1.0" encoding="UTF-8"?>\n<script:module ${attributes}>${source}</script:module>`
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`
}

/** A PDF and the formats of Microsoft take their password in places of their own. What fails leaves no file. */
const STORE = `Sub Store(FromUrl As String, ToUrl As String, FilterName As String, Password As String)
  On Error Resume Next
  Dim Opening(0) As New com.sun.star.beans.PropertyValue
  Opening(0).Name = "Hidden"
  Opening(0).Value = True
  Dim Locked(1) As New com.sun.star.beans.PropertyValue
  Locked(0).Name = "EncryptFile"
  Locked(0).Value = True
  Locked(1).Name = "DocumentOpenPassword"
  Locked(1).Value = Password
  Dim Key(1) As New com.sun.star.beans.NamedValue
  Key(0).Name = "OOXPassword"
  Key(0).Value = Password
  Key(1).Name = "CryptoType"
  Key(1).Value = "Standard"
  Dim Storing(1) As New com.sun.star.beans.PropertyValue
  Storing(0).Name = "FilterName"
  Storing(0).Value = FilterName
  If Password <> "" And Right(FilterName, 10) = "pdf_Export" Then
    Storing(1).Name = "FilterData"
    Storing(1).Value = Locked()
  ElseIf Password <> "" And InStr(FilterName, "2007 XML") > 0 Then
    Storing(1).Name = "EncryptionData"
    Storing(1).Value = Key()
  ElseIf Password <> "" Then
    Storing(1).Name = "Password"
    Storing(1).Value = Password
  End If
  Document = StarDesktop.loadComponentFromURL(FromUrl, "_blank", 0, Opening())
  Document.storeToURL(ToUrl, Storing())
  Document.close(True)
End Sub
`
