import { stringify } from 'yaml'
import type { Explained, ExplainedSection } from '../../app/settings/explain-settings.ts'
import { escapeText } from '../../foundation/text/safe-text.ts'

const STEP = '  '

/** Renders settings as YAML, with the origin of each value as a comment after it. */
export function renderConfigYaml(root: ExplainedSection): string {
  return sectionLines(root, '').map(escapeText).join('\n')
}

function sectionLines({ entries }: ExplainedSection, indent: string): string[] {
  return entries.flatMap(([key, explained]) => entryLines(key, explained, indent))
}

function entryLines(key: string, explained: Explained, indent: string): string[] {
  switch (explained.kind) {
    case 'value':
      return [`${indent}${key}: ${inOneLine(explained.value)} # ${explained.origin}`]
    case 'hidden':
      return [`${indent}# ${key}: ${explained.hint} (${explained.origin})`]
    case 'section':
      return [`${indent}${key}:`, ...sectionLines(explained, indent + STEP)]
    case 'list':
      if (explained.items.length === 0) return [`${indent}${key}: []`]
      return [`${indent}${key}:`, ...explained.items.flatMap((item) => itemLines(item, indent + STEP))]
  }
}

function itemLines(item: ExplainedSection, indent: string): string[] {
  const [first = '', ...rest] = sectionLines(item, indent + STEP)
  return [`${indent}- ${first.trimStart()}`, ...rest]
}

function inOneLine(value: unknown): string {
  return stringify(value, { collectionStyle: 'flow', blockQuote: false, lineWidth: 0 }).trimEnd()
}
