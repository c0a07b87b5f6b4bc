import type { CallToolResult } from '@modelcontextprotocol/server'

/** A result of one text in JSON and, if there is one, a further text as it is. */
export function jsonResult(value: unknown, text?: string): CallToolResult {
  const texts = [JSON.stringify(value), ...(text === undefined ? [] : [text])]
  return { content: texts.map((each) => ({ type: 'text', text: each })) }
}
