/** A Markdown table, aligned so that it can be read as it is; the first line is its head. */
export function renderMarkdownTable(lines: readonly (readonly string[])[]): string {
  const [head = [], ...rows] = lines
  const widths = head.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)))
  const render = (line: readonly string[]) => `| ${line.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  return [render(head), rule, ...rows.map(render)].join('\n')
}
