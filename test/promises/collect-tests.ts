import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const TESTS = join(import.meta.dirname, '..')

/** The own titles of all tests of a file below `test/` as they are written, without their groups, with `%s` and `${…}`. */
export function collectTests(file: string): string[] {
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

/** Whether a test whose full name is `name` is written as `title`, in any group and with any values of its cases. */
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
