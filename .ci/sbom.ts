/**
 * The software bill of materials (CycloneDX 1.5) of what is installed with the package, out of package-lock.json. `npm sbom`
 * makes one too, but another one each time (times, random numbers, the name of the directory); with `--omit=dev` that of npm 11
 * leaves out what development needs as well (zod, yaml); and not every npm has it.
 */
import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { FROM_DEVELOPMENT } from './licences.ts'

const lockedPackage = z.object({
  name: z.string().optional(),
  version: z.string().default(''),
  license: z.string().optional(),
  integrity: z.string().optional(),
  link: z.boolean().default(false),
  dev: z.boolean().default(false),
  optional: z.boolean().default(false),
  dependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
})
const lockShape = z.object({ packages: z.record(z.string(), lockedPackage) })

/** Development installs it, and the pages (.ci/bundle-web.ts) or the program (.ci/bundle.ts) contain it. */
const CONTAINED: readonly string[] = ['preact', 'uplot', ...FROM_DEVELOPMENT].map((name) => `node_modules/${name}`)

/**
 * What officeparser brings along where shelfd is installed as a package, since an override holds only in a checkout. Nothing loads it, so
 * its version is of no interest; of the canvas, npm adds the build for the platform.
 */
export const BROUGHT_ALONG: readonly string[] = ['pdfjs-dist', '@napi-rs/canvas']

type Packages = z.infer<typeof lockShape>['packages']
type LockedPackage = Packages[string]

/** JSON that is the same for the same lock file, wherever and whenever it is made. */
export function renderSbom(): string {
  const lock: unknown = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'))
  const { packages } = lockShape.parse(lock)
  const installed = Object.entries(packages).filter(([path, found]) => {
    return path === '' || CONTAINED.includes(path) || (isOfOthers(path, found) && !found.dev)
  })
  const described = installed.map(([path, found]) => ({ path, component: describePackage(path, found), found }))
  const refs = new Set(described.map(({ component }) => component['bom-ref']))
  const [root, ...components] = described
  const sbom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.5',
    version: 1,
    metadata: { component: { ...root?.component, type: 'application' } },
    components: [
      ...components.map(({ component }) => component),
      ...BROUGHT_ALONG.map((name) => ({ type: 'library', name, scope: 'optional' })),
    ],
    dependencies: described.map(({ path, component, found }) => {
      return {
        ref: component['bom-ref'],
        dependsOn: dependenciesOf(packages, path, found).filter((ref) => refs.has(ref)),
      }
    }),
  }
  return `${JSON.stringify(sbom, null, 2)}\n`
}

/** Returns whether it is a package of npm; the list of the library's packages is ours (.ci/library). */
function isOfOthers(path: string, { link }: Pick<LockedPackage, 'link'>): boolean {
  return path.startsWith('node_modules/') && !link
}

function describePackage(path: string, found: LockedPackage) {
  const name = nameOf(path, found)
  return {
    'bom-ref': refOf(path, found),
    type: 'library',
    name,
    version: found.version,
    scope: found.optional ? 'optional' : 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${found.version}`,
    ...(found.license && {
      licenses: [/^[\w.+-]+$/.test(found.license) ? { license: { id: found.license } } : { expression: found.license }],
    }),
    ...(found.integrity && { hashes: [hashOf(found.integrity)] }),
  }
}

/** The path under node_modules distinguishes several installations of one version. */
function refOf(path: string, found: LockedPackage): string {
  const isNested = path.lastIndexOf('node_modules/') > 0
  return `${nameOf(path, found)}@${found.version}${isNested ? `|${path}` : ''}`
}

function nameOf(path: string, { name }: LockedPackage): string {
  return name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
}

function hashOf(integrity: string): { alg: string; content: string } {
  const [, digits = '', base64 = ''] = /^sha(\d+)-(\S+)$/.exec(integrity) ?? []
  return { alg: `SHA-${digits}`, content: Buffer.from(base64, 'base64').toString('hex') }
}

function dependenciesOf(packages: Packages, path: string, found: LockedPackage): string[] {
  const names = Object.keys({ ...found.dependencies, ...found.optionalDependencies })
  return names.flatMap((name) => resolveFrom(packages, path, name)).sort()
}

/** As Node looks for it: in the node_modules of the package itself, then of each directory above. */
function resolveFrom(packages: Packages, path: string, name: string): string[] {
  const candidate = `${path === '' ? '' : `${path}/`}node_modules/${name}`
  const found = packages[candidate]
  if (found) return [refOf(candidate, found)]
  return path === '' ? [] : resolveFrom(packages, path.slice(0, Math.max(0, path.lastIndexOf('/node_modules/'))), name)
}
