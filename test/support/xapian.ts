import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findProgram } from './programs.ts'

/** Where Debian's package xapian-omega has the program that answers a query: a web server runs it once for each. */
const OMEGA = '/usr/lib/cgi-bin/omega/omega'
/** A line for each hit: its path, and its sample with the words of the query marked. */
const TEMPLATE = '$hitlist{$field{url} $transform{\\s+, ,$snippet{$field{sample}}}\n}'

export function isXapianInstalled(): boolean {
  return findProgram('omindex') !== undefined && existsSync(OMEGA)
}

/**
 * The command that adds the texts of a directory to a database, which may be new; their words are stemmed as in English. `root` goes
 * before their paths.
 */
export function indexCommand(tree: string, database: string, root = '/'): string[] {
  const texts = ['md', 'rst'].flatMap((ending) => ['--mime-type', `${ending}:text/plain`])
  return ['omindex', '--no-delete', '--db', database, '--url', root, ...texts, tree]
}

/** Asks a database: returns the paths below the root of at most ten files, the best first. */
export type AskXapian = (query: string) => string[]

/** `directory` is created and holds the configuration of the program. */
export function openXapian(database: string, directory: string): AskXapian {
  mkdirSync(directory, { recursive: true })
  writeFileSync(join(directory, 'hits'), TEMPLATE)
  const configuration = join(directory, 'omega.conf')
  const [parent, name] = [join(database, '..'), database.slice(join(database, '..').length + 1)]
  writeFileSync(
    configuration,
    [`database_dir ${parent}`, `template_dir ${directory}`, `log_dir ${directory}`, `cdb_dir ${directory}`, ''].join(
      '\n',
    ),
  )
  const env = { ...process.env, OMEGA_CONFIG_FILE: configuration }
  return (query) => {
    const parameters = [`P=${query}`, `DB=${name}`, 'FMT=hits', 'HITSPERPAGE=10']
    const answer = execFileSync(OMEGA, parameters, { env, encoding: 'utf8' })
    const [, hits = ''] = answer.split('\n\n', 2)
    return hits
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [decodeURIComponent(line.split(' ', 1)[0] ?? '').slice(1)]))
  }
}
