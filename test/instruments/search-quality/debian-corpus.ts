import { execFileSync } from 'node:child_process'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { CorpusDocument } from './corpus.ts'

const LANGUAGES = ['en', 'de', 'fr', 'ja'] as const
/** Manuals of some 100 to 250 pages, each one document. */
const MANUALS: readonly (readonly [packageName: string, file: string])[] = [
  ...LANGUAGES.map((each) => [`debian-reference-${each}`, `debian-reference/debian-reference.${each}.txt.gz`] as const),
  ...LANGUAGES.map(
    (each) => ['installation-guide-amd64', `doc/installation-guide-amd64/${each}/install.${each}.txt.gz`] as const,
  ),
  ['debian-policy', 'doc/debian-policy/policy.txt.gz'],
  ['developers-reference', 'developers-reference/developers-reference.txt.gz'],
]
const PAGES_OF = [
  'coreutils',
  'util-linux',
  'mount',
  'tar',
  'gzip',
  'findutils',
  'grep',
  'sed',
  'passwd',
  'procps',
  'apt',
  'dpkg',
]
/** Packages of translated pages, which are taken of the pages that the packages above have in English. */
const TRANSLATIONS = ['manpages-de', 'manpages-fr', 'manpages-ja']
const MAX_PAGE_LENGTH = 20_000
const PAGE = /^\/usr\/share\/man\/man[15678]\/.*\.gz$/

interface DebianCorpus {
  readonly documents: readonly CorpusDocument[]
  /** Debian packages whose documents are left out because they are not installed. */
  readonly missing: readonly string[]
}

/**
 * Long manuals beside short pages in four languages, from Debian packages: the manuals as one text each, and manual pages of at most
 * 20,000 characters without their marks.
 */
export function readDebianCorpus(): DebianCorpus {
  const needed = [...new Set([...MANUALS.map(([name]) => name), ...PAGES_OF, ...TRANSLATIONS])]
  const missing = needed.filter((name) => filesOf(name).length === 0)
  const manuals = MANUALS.map(([, file]) => `/usr/share/${file}`).filter((file) => existsSync(file))
  const pages = PAGES_OF.flatMap(filesOf)
    .filter((file) => PAGE.test(file))
    .sort()
  return { documents: [...manuals.map(readManual), ...LANGUAGES.flatMap((each) => readPages(pages, each))], missing }
}

function filesOf(packageName: string): string[] {
  try {
    return execFileSync('dpkg-query', ['-L', packageName], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).split('\n')
  } catch {
    return []
  }
}

function readManual(file: string): CorpusDocument {
  const name = basename(file, '.gz')
  return { path: `manual/${basename(name, '.txt')}`, name, text: gunzipSync(readFileSync(file)).toString() }
}

function readPages(files: readonly string[], language: string): CorpusDocument[] {
  return files.flatMap((english) => {
    const file = language === 'en' ? english : english.replace('/man/', `/man/${language}/`)
    if (!existsSync(file) || lstatSync(file).isSymbolicLink()) return []
    const text = withoutMarks(gunzipSync(readFileSync(file)).toString())
    const name = basename(file, '.gz')
    return text.length < 200 || text.length > MAX_PAGE_LENGTH
      ? []
      : [{ path: `${language}/${name}`, name: `${name}.txt`, text }]
  })
}

const MARKS_ON_LETTERS: Readonly<Record<string, string>> = { ':': '̈', "'": '́', '`': '̀', '^': '̂', ',': '̧', '~': '̃' }
const GLYPHS: Readonly<Record<string, string>> = { '-': '-', e: '\\', ' ': ' ', '*(Aq': "'", '(aq': "'", '(ss': 'ß' }

/** The text of a manual page: requests keep what they show, headings stand alone. */
function withoutMarks(source: string): string {
  return source
    .replace(/^\.de[\s\S]*?^\.\.$/gm, '')
    .replace(/^['.]\\".*\n/gm, '')
    .replace(/^['.]\s*(?:TH|so|ie|el|if|nr|ad|hy|nh|ds|in|ft|ne|na|ps|mso|tm|ta|nf|fi|sp|RS|RE|EX|EE|\\})\b.*\n/gm, '')
    .replace(/^['.]\s*(?:SH|Sh|SS|Ss) +(.*)$/gm, (_, heading: string) => `\n${heading.replaceAll('"', '')}`)
    .replace(/^['.]\s*(?:PP|P|LP|IP|TP|HP|br|Pp|\.)?(?: .*)?$/gm, '')
    .replace(/^['.]\s*[A-Za-z]{1,3} (.*)$/gm, (_, shown: string) => shown.replaceAll('"', ''))
    .replace(/\\\[u([0-9A-F]{4})\]/g, (_, code: string) => String.fromCodePoint(Number.parseInt(code, 16)))
    .replace(/\\(?:f(?:\[\w*\]|\(..|.)|s[-+]?\d|[,/&|^%:c]|m\[\w*\]|u|d|h'[^']*')/g, '')
    .replace(/\\\(([:'`^,~])([A-Za-z])/g, (_, mark: string, letter: string) => letter + (MARKS_ON_LETTERS[mark] ?? ''))
    .replace(/\\(-|\*\(Aq|\(aq|\(ss|e| )/g, (_, glyph: string) => GLYPHS[glyph] ?? '')
    .replace(/\\\(..|\\\[\w+\]|^\.\S+ ?/gm, '')
    .replace(/\n{3,}/g, '\n\n')
    .normalize('NFC')
    .trim()
}
