/** Both packages for Linux that bring their own Node. See docs/installing.md. */
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import packageJson from '../../package.json' with { type: 'json' }
import { buildDeb } from './build-deb.ts'
import { normalizeTree, packTree, writeChecksums } from './pack-tree.ts'
import { ROOT, writeProgramFiles } from './program-files.ts'
import { writeSharedFiles } from './shared-files.ts'

export interface MakeOptions {
  /** Where the packages go; it is made. */
  readonly directory: string
  /** The time of every file in seconds, so that the same sources make the same bytes. */
  readonly madeAt: number
  /** Compresses nothing, for tests: that takes seconds instead of minutes. */
  readonly isQuick: boolean
}

/** Makes the archive, the package for Debian and a file with their checksums; returns their paths. */
export async function makePackages(options: MakeOptions): Promise<readonly string[]> {
  if (process.platform !== 'linux') throw new Error('Cannot make these packages: they are made on Linux')
  const { directory, madeAt, isQuick } = options
  mkdirSync(directory, { recursive: true })
  const place = mkdtempSync(join(tmpdir(), 'shelfd-packages-'))
  try {
    const name = `shelfd-${packageJson.version}-linux-${process.arch}`
    const tree = join(place, name)
    writeProgramFiles(tree)
    await writeSharedFiles(join(tree, 'share'))
    cpSync(join(ROOT, '.ci', 'packages', 'INSTALL.md'), join(tree, 'INSTALL.md'))
    normalizeTree(tree, madeAt)
    const archive = join(directory, `${name}.tar.gz`)
    await packTree(place, name, archive, isQuick ? 0 : 9)
    const root = join(place, 'root')
    mkdirSync(join(root, 'usr', 'lib'), { recursive: true })
    renameSync(tree, join(root, 'usr', 'lib', 'shelfd'))
    const deb = buildDeb(root, options)
    return [archive, deb, writeChecksums(directory, [archive, deb])]
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
