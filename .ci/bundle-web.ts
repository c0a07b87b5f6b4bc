/**
 * Bundles the pages that run in a browser (src/web): a page is an HTML file, a script and a style sheet, the latter two named after
 * their bytes. See docs/decisions/053-preact.md.
 */
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { licenceOf } from './licences.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const WEB = join(ROOT, 'src', 'web')

/** The folders of src/web that are pages; what they share is not one. */
export const PAGES: readonly string[] = ['dashboard', 'library']

/** The packages whose code is in the script of a page. */
const IN_SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  dashboard: ['preact', 'uplot'],
  library: ['preact'],
}

export interface WebFile {
  readonly name: string
  readonly body: Buffer
}

/** Returns the files of all pages: `PAGE.html`, and what these name. */
export async function bundleWeb(): Promise<readonly WebFile[]> {
  const pages = await Promise.all(PAGES.map(bundlePage))
  return pages.flat()
}

async function bundlePage(page: string): Promise<WebFile[]> {
  const icon = named(page, 'svg', readFileSync(join(WEB, 'common', 'icon.svg')))
  const style = named(page, 'css', Buffer.from(styleOf(page)))
  const script = named(page, 'js', Buffer.from(licencesOf(page) + (await scriptOf(page))))
  const html = [script, style, icon].reduce(
    (text, { name }) => text.replace(`{{${name.slice(name.lastIndexOf('.') + 1)}}}`, name),
    readFileSync(join(WEB, page, 'page.html'), 'utf8'),
  )
  return [{ name: `${page}.html`, body: Buffer.from(html) }, script, style, icon]
}

async function scriptOf(page: string): Promise<string> {
  await using bundle = await rolldown({
    cwd: ROOT,
    input: join(WEB, page, 'main.tsx'),
    platform: 'browser',
    onLog: (_level, { message }) => {
      throw new Error(message)
    },
  })
  const { output } = await bundle.generate({ format: 'es', minify: true })
  const [script, ...others] = output
  if (others.length > 0) throw new Error(`The page "${page}" is more than one script`)
  return script.code
}

/** Puts what the pages share first, so that a page can differ. */
function styleOf(page: string): string {
  const sheets = ['common', page].flatMap((folder) => globSync(join(WEB, folder, '**', '*.css')).sort())
  const text = sheets.map((file) => readFileSync(file, 'utf8')).join('\n')
  return text.replaceAll(/\/\*.*?\*\//gs, '').replaceAll(/\s*\n\s*/g, '\n')
}

function licencesOf(page: string): string {
  return (IN_SCRIPTS[page] ?? []).map(licenceOf).join('')
}

function named(page: string, ending: string, body: Buffer): WebFile {
  const digest = createHash('sha256').update(body).digest('hex').slice(0, 12)
  return { name: `${page}-${digest}.${ending}`, body }
}
