/** The packages that only the embedded library needs; an installation for a remote service may omit them. */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'
import { UsageError } from '../foundation/errors.ts'
import { version } from '../foundation/version.ts'

/** The packages without which no library can be served. */
const LIBRARY_PACKAGES = [
  ...['fastify', '@fastify/swagger', '@fastify/swagger-ui', '@orama/stemmers/english'],
  ...['any-ascii', 'chardet', 'file-type'],
]

/** The packages that read each kind of document. Without them a library stores documents of the kind, but none of their text. */
const READER_PACKAGES = {
  pdf: { documents: 'PDF files', packages: ['@hyzyla/pdfium'] },
  office: { documents: 'Documents of office programs and e-books', packages: ['officeparser', 'fflate'] },
  mail: { documents: 'E-mail messages', packages: ['postal-mime'] },
  compound: { documents: 'Documents of older office programs', packages: ['@kenjiuno/msgreader'] },
  picture: {
    documents: 'Pictures and scanned pages',
    packages: ['sharp', 'tesseract.js', '@tesseract.js-data/eng', '@tesseract.js-data/deu'],
  },
} as const

/** Returns the packages that are not installed. */
export function missingPackages(names: readonly string[]): string[] {
  const { resolve } = createRequire(import.meta.url)
  return names.filter((name) => {
    try {
      return resolve(name) === ''
    } catch {
      return true
    }
  })
}

/** Throws UsageError if shelfd was installed without its optional packages. */
export function assertLibraryInstalled(): void {
  if (missingPackages(LIBRARY_PACKAGES).length === 0) return
  throw new UsageError(
    'bad-configuration',
    'The embedded library is not installed here: name a service with --service-url or in the configuration, ' +
      'or install shelfd again with "npm install -g shelfd --include=optional"',
  )
}

/** Returns a sentence that says why documents of a kind cannot be read, undefined if they can. */
export function explainMissingReader(kind: string): string | undefined {
  if (!isReader(kind)) return undefined
  const { documents, packages } = READER_PACKAGES[kind]
  const missing = missingPackages(packages)
  if (missing.length === 0) return undefined
  const how = `"npm install -g ${missing.join(' ')}" installs what is missing`
  return `${documents} cannot be read here, only the title is searchable: ${how}`
}

/** The programs of the system that readers start. */
const PROGRAMS = ['ffprobe', 'ffmpeg', 'catdoc', 'xls2csv']

/** Everything on which it depends which documents can be read: the version of shelfd, and the missing packages and programs. */
export interface Readers {
  readonly version: string
  readonly missing: readonly string[]
}

export function describeReaders(): Readers {
  const packages = Object.values(READER_PACKAGES).flatMap((reader) => reader.packages)
  const directories = (process.env.PATH ?? '').split(delimiter)
  const isMissing = (program: string) => !directories.some((directory) => existsSync(join(directory, program)))
  return { version, missing: [...missingPackages(packages), ...PROGRAMS.filter(isMissing)] }
}

function isReader(kind: string): kind is keyof typeof READER_PACKAGES {
  return Object.hasOwn(READER_PACKAGES, kind)
}
