import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { KINDS, type Kind, PACKAGES } from './packages.ts'

export interface RealDocument {
  readonly kind: string
  /** Relative to the folder of all documents. */
  readonly path: string
  readonly ends: 'searchable' | 'partial' | 'failed'
}

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
