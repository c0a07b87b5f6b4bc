/** The package for Debian, out of the files that the archive has as well. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import packageJson from '../../package.json' with { type: 'json' }
import { planSystemd } from '../../src/app/system-service/service-manager-plans.ts'
import { renderCopyright } from './copyright.ts'
import type { MakeOptions } from './make-packages.ts'
import { normalizeTree } from './pack-tree.ts'
import { ROOT } from './program-files.ts'
import { writeInto } from './shared-files.ts'

const SCRIPTS = join(ROOT, '.ci', 'packages', 'debian')

/** What Debian calls a processor. */
const ARCHITECTURES: Partial<Record<NodeJS.Architecture, string>> = { x64: 'amd64', arm64: 'arm64' }

/** `root` has the program in usr/lib/shelfd already; returns the path of the package. */
export function buildDeb(root: string, { directory, madeAt, isQuick }: MakeOptions): string {
  const architecture = ARCHITECTURES[process.arch]
  if (architecture === undefined) throw new Error(`Cannot name ${process.arch} as Debian does`)
  const program = join(root, 'usr', 'lib', 'shelfd')
  renameSync(join(program, 'share'), join(root, 'usr', 'share'))
  rmSync(join(program, 'INSTALL.md'))
  link('../lib/shelfd/bin/shelfd', join(root, 'usr', 'bin', 'shelfd'))
  writeInto(root, 'usr/lib/systemd/system/shelfd.service', renderUnit())
  writeInto(root, 'etc/shelfd/config.yaml', renderConfiguration())
  writeDocuments(root)
  const size = execFileSync('du', ['--summarize', '--apparent-size', '--block-size=1024', root], { encoding: 'utf8' })
  writeInto(root, 'DEBIAN/control', renderControl(architecture, Number.parseInt(size, 10)))
  writeInto(root, 'DEBIAN/conffiles', '/etc/shelfd/config.yaml\n')
  normalizeTree(root, madeAt)
  for (const name of ['postinst', 'prerm', 'postrm']) {
    cpSync(join(SCRIPTS, name), join(root, 'DEBIAN', name))
    execFileSync('chmod', ['0755', join(root, 'DEBIAN', name)])
  }
  const deb = join(directory, `shelfd_${packageJson.version}_${architecture}.deb`)
  const env = { ...process.env, SOURCE_DATE_EPOCH: String(madeAt) }
  const compression = isQuick ? ['-Znone'] : ['-Zzstd', '-z9']
  execFileSync('dpkg-deb', ['--root-owner-group', ...compression, '--build', root, deb], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  return deb
}

/** The versions are those that the binaries were linked with; a test compares. */
function renderControl(architecture: string, sizeKib: number): string {
  return `Package: shelfd
Version: ${packageJson.version}
Architecture: ${architecture}
Maintainer: the shelfd authors <shelfd@localhost>
Installed-Size: ${sizeKib}
Depends: libc6 (>= 2.34), libgcc-s1, libstdc++6 (>= 11), adduser, procps
Recommends: ffmpeg
Section: utils
Priority: optional
Description: mirror directories into a knowledge library
 shelfd hashes the files of local directories, uploads each new content once
 to a Knowledge Library Service, follows it until it is searchable, and
 reports on both sides. Without a service it uses a library of its own on
 this computer.
 .
 This package brings its own Node.
`
}

/** The unit of the machine; the user stays, so that it can be given a group and the state can be read. */
function renderUnit(): string {
  const plan = planSystemd({ platform: 'linux', isSystem: true, home: '/', env: {}, user: { uid: 0, name: 'root' } })
  const template = readFileSync(join(ROOT, 'service', plan.template), 'utf8')
  const command = ['/usr/lib/shelfd/bin/node', '/usr/lib/shelfd/dist/main.js', 'daemon']
  const unit = String(plan.fill(template, { command, tokenFile: undefined }))
  return UNIT_HEAD + unit.slice(unit.indexOf('[Unit]')).replace('DynamicUser=yes', 'User=shelfd\nGroup=shelfd')
}

const UNIT_HEAD = `# shelfd for a whole machine. Put your own changes beside it, where an update keeps them: systemctl edit shelfd
#
# It runs as the user shelfd, which reads what everybody may read. For directories that only some users may read, give it a group
# that may read them (adduser shelfd papers), or add one of these to your own part:
#   User=ada                                                       the user they belong to
#   PrivateUsers=no, CapabilityBoundingSet=CAP_DAC_READ_SEARCH,
#   AmbientCapabilities=CAP_DAC_READ_SEARCH                        everything on the machine, for reading

`

const CONFIGURATION_HEAD = `# The configuration of shelfd for the service of this machine (shelfd.service), and of users who have none of their own. It must
# stay readable for everybody, so put no secret into it: the service's access token goes into /etc/credstore/shelfd.token.
# To set something, remove the # at the beginning of its lines, and of the line of its section. Then:
#   shelfd doctor                        checks it
#   systemctl enable --now shelfd        starts the daemon now and with the machine
#   systemctl reload shelfd              later, after each change

`

/** The annotated example with each setting taken back. */
function renderConfiguration(): string {
  const example = readFileSync(join(ROOT, 'config', 'config.example.yaml'), 'utf8')
  const lines = example
    .replace('./config.schema.json', '/usr/lib/shelfd/config/config.schema.json')
    .replaceAll('(docs/', '(/usr/share/doc/shelfd/docs/')
    .split('\n')
    .map((line) => (line === '' || line.startsWith('#') ? line : `#${line}`))
  return CONFIGURATION_HEAD + lines.join('\n')
}

function writeDocuments(root: string): void {
  const program = join(root, 'usr', 'lib', 'shelfd')
  const doc = 'usr/share/doc/shelfd'
  writeInto(root, `${doc}/copyright`, renderCopyright(program))
  writeInto(root, `${doc}/changelog.gz`, gzipSync(readFileSync(join(ROOT, 'CHANGELOG.md')), { level: 9 }))
  link('../../../lib/shelfd/docs', join(root, doc, 'docs'))
  link('../../../lib/shelfd/README.md', join(root, doc, 'README.md'))
}

function link(target: string, at: string): void {
  mkdirSync(dirname(at), { recursive: true })
  symlinkSync(target, at)
}
