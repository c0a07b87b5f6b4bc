import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { findProgram } from '../../support/programs.ts'

export interface RealDocument {
  readonly kind: string
  /** Relative to the folder of all documents. */
  readonly path: string
  readonly ends: 'searchable' | 'partial' | 'failed'
}

/** How documents of Word and Excel before 2007 end. */
export const BY_CATDOC = findProgram('catdoc') ? 'searchable' : 'partial'

/** Copies documents out of Debian packages into `folder`, each content once; packages are downloaded to `cache` unless they are there. */
export function collectDocuments(folder: string, cache: string): RealDocument[] {
  const known = new Set<string>()
  return PACKAGES.flatMap((name) => {
    const unpacked = unpack(name, cache)
    const files = globSync('**/*', { cwd: unpacked, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
    return KINDS.flatMap((kind) => {
      const chosen = files.filter((file) => kind.files.test(file.replace(/\.gz$/, ''))).slice(0, kind.most)
      return chosen.flatMap((file) => copy(file, { name, kind, folder, known }))
    })
  })
}

function unpack(name: string, cache: string): string {
  const unpacked = join(cache, name)
  if (existsSync(unpacked)) return unpacked
  mkdirSync(cache, { recursive: true })
  execFileSync('apt-get', ['-o', 'APT::Sandbox::User=root', 'download', name], {
    cwd: cache,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [archive = ''] = globSync(`${name}_*.deb`, { cwd: cache })
  execFileSync('dpkg-deb', ['-x', join(cache, archive), unpacked])
  return unpacked
}

interface Target {
  readonly name: string
  readonly kind: Kind
  readonly folder: string
  readonly known: Set<string>
}

function copy(file: string, { name, kind, folder, known }: Target): RealDocument[] {
  const stored = readFileSync(file)
  const bytes = file.endsWith('.gz') ? gunzipSync(stored) : stored
  const plainName = basename(file, '.gz')
  const hash = createHash('sha256').update(bytes).digest('hex')
  if (bytes.length === 0 || known.has(hash)) return []
  known.add(hash)
  const stem = kind.extension ? `${basename(plainName, '.txt')}.${kind.extension}` : plainName
  const path = join(kind.name, `${name} ${hash.slice(0, 4)} ${stem}`)
  mkdirSync(join(folder, kind.name), { recursive: true })
  writeFileSync(join(folder, path), bytes)
  return [{ kind: kind.name, path, ends: kind.ends ?? 'searchable' }]
}

export const extensionOf = (path: string) => extname(path).slice(1).toLowerCase()

/** Debian packages that hold documents: manuals, templates, samples of fonts, data of tests. */
const PACKAGES: readonly string[] = [
  ...[
    'debian-refcard',
    'debian-policy',
    'developers-reference',
    'debmake-doc',
    'debian-faq',
    'maint-guide',
    'gnuplot-doc',
  ],
  ...['fonts-sil-gentium', 'fonts-sil-padauk', 'fonts-sil-andika', 'fonts-sil-scheherazade', 'fonts-sil-abyssinica'],
  ...['fonts-sil-ezra', 'fonts-sil-charis', 'fonts-sil-doulos'],
  ...[
    'r-cran-readxl',
    'r-cran-openxlsx',
    'r-cran-officer',
    'r-cran-rio',
    'python3-docx',
    'pandoc-data',
    'python-odf-doc',
  ],
  ...['libreoffice-common', 'libpython3.11-testsuite', 'inkscape-tutorials', 'doc-debian'],
  ...['manpages-ja', 'manpages-zh', 'manpages-ru', 'fortunes-ru', 'fortunes-de'],
]

/** Files of one kind, and how many a package gives at most. */
interface Kind {
  readonly name: string
  /** Matches paths in a package, without `.gz`. */
  readonly files: RegExp
  readonly most: number
  /** The extension they get where their own says nothing. */
  readonly extension?: string
  /** The state in which their ingestion must end, where it is not a searchable one. */
  readonly ends?: RealDocument['ends']
}

const KINDS: readonly Kind[] = [
  { name: 'PDF', files: /\.pdf$/, most: 40 },
  { name: 'Word', files: /\.docx$/, most: 10 },
  { name: 'PowerPoint', files: /\.pptx$/, most: 10 },
  { name: 'Excel', files: /\.xlsx$/, most: 15 },
  { name: 'OpenDocument', files: /\.(?:odt|ott|ods|ots|odp|otp)$/, most: 45 },
  { name: 'EPUB', files: /\.epub$/, most: 10 },
  { name: 'RTF', files: /\.rtf$/, most: 10 },
  { name: 'e-mail', files: /test_email\/data\/msg_(?!18|19|3[789]|40)\d+\.txt$/, most: 40, extension: 'eml' },
  // Messages without sender, receiver, subject and date are read as plain text.
  { name: 'no e-mail', files: /test_email\/data\/msg_(?:18|19|3[789]|40)\.txt$/, most: 6, extension: 'eml' },
  { name: 'text in other encodings', files: /cjkencodings\/.*\.txt$/, most: 40 },
  { name: 'HTML', files: /\.html$/, most: 12 },
  { name: 'manual pages', files: /\/man\/.*\/man\d\/[^/]+\.\d$/, most: 15, extension: 'man' },
  { name: 'verses and sayings', files: /fortunes\/[^/.]+$/, most: 15, extension: 'txt' },
  { name: 'plain text', files: /\/doc\/.*\.(?:txt|md|rst)$/, most: 15 },
  { name: 'programs and tables', files: /\.(?:csv|tsv|py|sql|R|xml|json|ya?ml)$/, most: 12 },
  { name: 'pictures', files: /\.(?:png|jpe?g|gif|bmp|tiff|webp)$/, most: 6 },
  { name: 'sound', files: /\.(?:wav|au|aiff)$/, most: 6 },
  { name: 'archives and fonts', files: /\.(?:zip|ttf|woff2?|mo)$/, most: 4 },
  { name: 'older Word and Excel', files: /\.(?:xls|doc)$/, most: 6, ends: BY_CATDOC },
  { name: 'older PowerPoint', files: /\.ppt$/, most: 6 },
  { name: 'formats that nothing reads', files: /\.ps$/, most: 6, ends: 'partial' },
]
