import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const TESTS = join(import.meta.dirname, '..')

/** Such as `[P4, F-SV-04]`, at the end of a title. */
const TAG = / \[((?:P\d+|[FS]-(?:[A-Z]+-)?\d+)(?:, (?:P\d+|[FS]-(?:[A-Z]+-)?\d+))*)\]$/

/** The titles of tests as written, by their file below `test/`. */
export type ShownBy = Readonly<Record<string, readonly string[]>>

export function testFiles(): string[] {
  const files = globSync('**/*.test.ts', { cwd: TESTS, exclude: ['**/node_modules/**'] })
  return files.map((file) => file.replaceAll('\\', '/')).sort()
}

/** Returns the tests of each row of the catalogue, by its number: their titles end with it. */
export function findTests(): ReadonlyMap<string, ShownBy> {
  const found = new Map<string, Record<string, string[]>>()
  for (const file of testFiles()) {
    for (const title of collectTests(file)) {
      for (const id of tagsOf(title)) {
        const shownBy = found.get(id) ?? {}
        found.set(id, shownBy)
        shownBy[file] = [...(shownBy[file] ?? []), title]
      }
    }
  }
  return found
}

/** Returns the numbers at the end of a title. */
export function tagsOf(title: string): string[] {
  return TAG.exec(title)?.[1]?.split(', ') ?? []
}

export function withoutTag(title: string): string {
  return title.replace(TAG, '')
}

/** The tests that run the sentences of every ledger. */
const OF_LEDGERS: readonly string[] = ['ledger/memory.test.ts', 'ledger/postgres.test.ts']

/** The own titles of all tests of a file below `test/` as they are written, without their groups, with `%s` and `${…}`. */
export function collectTests(file: string): string[] {
  const shared = OF_LEDGERS.includes(file) ? globSync('ledger/sentences/*.ts', { cwd: TESTS }).sort() : []
  return [file, ...shared].flatMap(collectIn)
}

function collectIn(file: string): string[] {
  const text = readFileSync(join(TESTS, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const titles: string[] = []
  const visit = (node: ts.Node): void => {
    const title = ts.isCallExpression(node) ? titleOf(node, source) : undefined
    if (title !== undefined) titles.push(title)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return titles
}

/** The title of `test('…', …)` or `it.each(…)('…', …)`; undefined for any other call. */
function titleOf(call: ts.CallExpression, source: ts.SourceFile): string | undefined {
  const [title, body] = call.arguments
  if (!/^(?:test|it)\b/.test(call.expression.getText(source)) || title === undefined || body === undefined)
    return undefined
  if (ts.isStringLiteralLike(title)) return title.text
  return ts.isTemplateExpression(title) ? title.getText(source).slice(1, -1) : undefined
}

/** Returns whether a test whose full name is `name` is written as `title`, in any group and with any values of its cases. */
export function isRunOf(title: string, name: string): boolean {
  return patternOf(title).test(name)
}

function patternOf(title: string): RegExp {
  const parts = title.split(/%[sdifjoOc#]|\$\{[^}]*\}|\$[\w.]+/)
  return new RegExp(`^(?:.* > )?${parts.map(literal).join('.*')}$`, 's')
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
