import type { OfficeContentNode } from 'officeparser'

/** A heading, paragraph, table or the like as Markdown, with the notes and comments on it; empty when it has no words. */
export function markdownOf(node: OfficeContentNode): string {
  const remarks = remarksOf(node).map((remark) => `> ${inlineOf(remark)}`)
  return [blockOf(node), ...remarks].filter((text) => text.trim() !== '').join('\n\n')
}

/** The notes and comments on a node and on the words in it; those on blocks in it follow these blocks. */
function remarksOf(node: OfficeContentNode): OfficeContentNode[] {
  const isOfBlocks = node.type === 'table' || CONTAINERS.includes(node.type) || hasBlocks(node)
  const inside = isOfBlocks ? [] : (node.children ?? []).flatMap(remarksOf)
  return [...(node.notes ?? []), ...(node.comments ?? []), ...inside]
}

function blockOf(node: OfficeContentNode): string {
  switch (node.type) {
    case 'heading':
      return headed(node.metadata && 'level' in node.metadata ? Number(node.metadata.level) : 1, inlineOf(node))
    case 'list':
      return listItem(node)
    case 'table':
      return tableOf(node.children ?? [])
    case 'code':
      return `\`\`\`\n${node.text ?? ''}\n\`\`\``
    default:
      return CONTAINERS.includes(node.type) || hasBlocks(node) ? blocksOf(node) : inlineOf(node)
  }
}

const CONTAINERS: readonly OfficeContentNode['type'][] = ['slide', 'page', 'sheet', 'admonition', 'definitionList']
const BLOCKS: readonly OfficeContentNode['type'][] = ['heading', 'paragraph', 'table', 'list', 'code']

function hasBlocks({ children = [] }: OfficeContentNode): boolean {
  return children.some(({ type }) => BLOCKS.includes(type))
}

function blocksOf({ children = [] }: OfficeContentNode): string {
  return children
    .map(markdownOf)
    .filter((text) => text !== '')
    .join('\n\n')
}

function headed(level: number, text: string): string {
  const mark = '#'.repeat(Math.min(Math.max(level, 1), 6))
  return text.trim() === '' ? '' : `${mark} ${text.replace(/\s+/g, ' ').trim()}`
}

function listItem(node: OfficeContentNode): string {
  const { listType = 'unordered', indentation = 0 } = node.metadata && 'listType' in node.metadata ? node.metadata : {}
  const text = hasBlocks(node) ? blocksOf(node) : inlineOf(node)
  return text.trim() === ''
    ? ''
    : `${'  '.repeat(Math.min(indentation, 9))}${listType === 'ordered' ? '1.' : '-'} ${text}`
}

/** The first row is the head of the table. */
function tableOf(rows: readonly OfficeContentNode[]): string {
  const lines = rows.map(rowOf).filter((line) => line !== '')
  const columns = Math.max(0, ...rows.map(({ children = [] }) => children.length))
  return lines.length < 2 ? lines.join('\n') : lines.toSpliced(1, 0, `|${' --- |'.repeat(columns)}`).join('\n')
}

/** `| cell | cell |`; empty when no cell has a word. */
export function rowOf({ children = [] }: OfficeContentNode): string {
  const cells = children.map((cell) => cellText(markdownOf(cell)))
  return cells.every((cell) => cell === '') ? '' : `| ${cells.join(' | ')} |`
}

export function cellText(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')
}

/** The words of a node and of everything in it; a picture gives its alternative text. */
function inlineOf(node: OfficeContentNode): string {
  if (node.type === 'break') return '\n'
  if (node.type === 'image') return node.metadata && 'altText' in node.metadata ? (node.metadata.altText ?? '') : ''
  if (!node.children || node.children.length === 0) return node.text ?? ''
  return node.children.map(inlineOf).join('')
}
