/** The program with its own Node and the packages that it needs, as it lies in both packages for Linux. */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, globSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import packageJson from '../../package.json' with { type: 'json' }
import lock from '../../package-lock.json' with { type: 'json' }
import { renderSbom } from '../sbom.ts'

export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Finds the program also through a link, such as /usr/bin/shelfd, and takes the Node beside it. */
const LAUNCHER = `#!/bin/sh
bin=$(dirname -- "$(readlink -f -- "$0")")
exec "$bin/node" "$bin/../dist/main.js" "$@"
`

/** In packages of others: what no Node of this machine loads. Licences and data stay. */
const NEVER_LOADED: readonly RegExp[] = [
  /\.map$/,
  /\.d\.[cm]?ts$/,
  /\/officeparser\.browser\./,
  /\/better-sqlite3\/deps\//,
  // Built for other systems; this one's stays.
  new RegExp(`/better-sqlite3/prebuilds/(?!${process.platform}-${process.arch}\\.node$)`),
  /\/bintrees\/test\//,
]

/** Puts bin, dist, node_modules and the files of the npm package into a directory that does not exist yet. */
export function writeProgramFiles(directory: string): void {
  mkdirSync(join(directory, 'bin'), { recursive: true })
  cpSync(process.execPath, join(directory, 'bin', 'node'))
  cpSync(findNodeLicence(), join(directory, 'bin', 'LICENSE.node'))
  writeFileSync(join(directory, 'bin', 'shelfd'), LAUNCHER)
  chmodSync(join(directory, 'bin', 'shelfd'), 0o755)
  execFileSync(process.execPath, [join(ROOT, '.ci', 'build.ts'), join(directory, 'dist')])
  writeFileSync(join(directory, 'sbom.cdx.json'), renderSbom())
  for (const name of ['package.json', ...packageJson.files].filter((each) => !existsSync(join(directory, each)))) {
    cpSync(join(ROOT, name), join(directory, name), { recursive: true })
  }
  for (const path of listRuntimePackages()) copyPackage(path, directory)
}

/** Paths below the project of all packages that are installed with the program, by the lock file. */
function listRuntimePackages(): readonly string[] {
  const installed = Object.entries(lock.packages).filter(([path, found]) => {
    return path.startsWith('node_modules/') && !('dev' in found) && !('link' in found)
  })
  // Packages for other systems are in the lock file, and not on this machine.
  return installed.map(([path]) => path).filter((path) => existsSync(join(ROOT, path)))
}

function copyPackage(path: string, directory: string): void {
  const source = join(ROOT, path)
  const filter = (file: string) => {
    // The packages inside have entries of their own in the lock file.
    if (basename(file) === 'node_modules' && file !== source) return false
    return !NEVER_LOADED.some((pattern) => pattern.test(file))
  }
  cpSync(source, join(directory, path), { recursive: true, filter })
}

/** Beside the binary in an archive of nodejs.org; in the package `node` of npm inside the package for this machine. */
function findNodeLicence(): string {
  const prefix = dirname(dirname(realpathSync(process.execPath)))
  const [found] = globSync(['LICENSE', `node_modules/node-${process.platform}-*/LICENSE`], { cwd: prefix })
  if (found === undefined) throw new Error(`No licence of Node below "${prefix}": run this with the Node of npm ci`)
  return join(prefix, found)
}
