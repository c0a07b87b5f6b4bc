import type { z } from 'zod'

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
}

/** Returns what a shape without a message of its own expects, such as `a text` or `one of api, mcp`. */
export function expectedOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? 'a value of another kind'
    case 'invalid_value':
      return issue.values.length === 1 ? String(issue.values[0]) : `one of ${issue.values.map(String).join(', ')}`
    case 'too_small':
      return issue.origin === 'number' || issue.origin === 'int' ? `at least ${issue.minimum}` : 'longer'
    case 'too_big':
      return issue.origin === 'number' || issue.origin === 'int' ? `at most ${issue.maximum}` : 'shorter'
    case 'unrecognized_keys':
      return `without ${issue.keys.map((key) => `"${key}"`).join(', ')}`
    default:
      return 'a value of another form'
  }
}

/** Returns `must be a text` or `is missing`. */
export function describeIssue(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'custom') return issue.message ?? 'cannot be used'
  return issue.input === undefined ? 'is missing' : `must be ${expectedOf(issue)}`
}
