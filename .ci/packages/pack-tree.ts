import { execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createWriteStream, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'

/** What makes the same bytes of the same files: times and modes that depend on neither machine nor user. */
export function normalizeTree(tree: string, madeAt: number): void {
  execFileSync('chmod', ['--recursive', 'u=rwX,go=rX', tree])
  execFileSync('find', [tree, '-exec', 'touch', '--no-dereference', `--date=@${madeAt}`, '{}', '+'])
}

/** Packs `name` in the directory `place` into a .tar.gz, sorted and owned by root; `level` is that of gzip. */
export async function packTree(place: string, name: string, archive: string, level: number): Promise<void> {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', '--format=gnu', '--sort=name']
  const tar = spawn('tar', ['--create', ...owner, `--directory=${place}`, name], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(tar, 'close')
  await pipeline(tar.stdout, createGzip({ level }), createWriteStream(archive))
  const [exitCode] = await ended
  if (exitCode !== 0) throw new Error(`Cannot pack "${name}": tar ended with ${exitCode}`)
}

/** Writes SHA256SUMS beside the files, for `sha256sum --check`; returns its path. */
export function writeChecksums(directory: string, files: readonly string[]): string {
  const lines = files.map((file) => {
    return `${createHash('sha256').update(readFileSync(file)).digest('hex')}  ${basename(file)}\n`
  })
  const sums = join(directory, 'SHA256SUMS')
  writeFileSync(sums, lines.join(''))
  return sums
}
