import type { YAMLError } from 'yaml'

/** The message for a value that begins with `*`, which YAML reads as a reference to another value. */
export const BAD_STAR = 'a value that begins with "*" must stand in quotes'

/** The usual mistake behind each error code of the parser, for people who do not know the terms of YAML. */
const WORDS: Readonly<Partial<Record<YAMLError['code'], string>>> = {
  BAD_ALIAS: BAD_STAR,
  BAD_DQ_ESCAPE: 'within double quotes each "\\" must stand twice; within single quotes once',
  BAD_INDENT: 'a "{" or "[" is not closed, or lines that belong together do not begin in the same column',
  BAD_SCALAR_START: 'a value that begins with "@", "%" or "`" must stand in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a value with ": " in it must stand in quotes, or a line is indented too far',
  BLOCK_IN_FLOW: 'a "," is missing between "{" and "}" or between "[" and "]"',
  DUPLICATE_KEY: 'the same key stands here twice',
  MISSING_CHAR: 'a quote is not closed, or a ":", a "," or a blank is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must be followed by ": ", on the same line',
  MULTIPLE_DOCS: 'only one document is read, so no second one may begin with "---"',
  TAB_AS_INDENT: 'lines must be indented with blanks, not with tabs',
  UNEXPECTED_TOKEN:
    'something does not belong here, such as a bracket that was never opened or text after a closing quote',
}

/** The message for a code; for a code without words, the line. */
export function describeYamlError(code: YAMLError['code'] | undefined, line: number): string {
  const words = code && WORDS[code]
  return words === undefined ? `not valid YAML near line ${line}` : `not valid YAML: ${words}`
}
