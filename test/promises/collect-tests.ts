import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const TESTS = join(import.meta.dirname, '..')

/** The full titles of all tests of a file below `test/`, as they are written: `describe > test`, with `%s` and `${…}`. */
export function collectTests(file: string): string[] {
  const text = readFileSync(join(TESTS, file), 'utf8')
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest)
  const titles: string[] = []
  const visit = (node: ts.Node, above: readonly string[]): void => {
    const found = ts.isCallExpression(node) ? titleOf(node, source) : undefined
    const path = found ? [...above, found.title] : above
    if (found?.kind === 'test') titles.push(path.join(' > '))
    ts.forEachChild(node, (child) => visit(child, path))
  }
  visit(source, [])
  return titles
}

/** Of `test('…', …)`, `it.each(…)('…', …)`, `describe.runIf(…)('…', …)`; undefined for any other call. */
function titleOf(call: ts.CallExpression, source: ts.SourceFile) {
  const [, word] = /^(describe|test|it)\b/.exec(call.expression.getText(source)) ?? []
  const [first, body] = call.arguments
  if (word === undefined || first === undefined || body === undefined) return undefined
  const kind = word === 'describe' ? 'group' : 'test'
  if (ts.isStringLiteralLike(first)) return { kind, title: first.text }
  return ts.isTemplateExpression(first) ? { kind, title: first.getText(source).slice(1, -1) } : undefined
}

/** Whether a test that ran under `name` is one of those written as `title`: what each case fills in may be anything. */
export function isRunOf(title: string, name: string): boolean {
  return patternOf(title).test(name)
}

function patternOf(title: string): RegExp {
  const parts = title.split(/%[sdifjoOc#]|\$\{[^}]*\}|\$[\w.]+/)
  return new RegExp(`^${parts.map(literal).join('.*')}$`, 's')
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
}
