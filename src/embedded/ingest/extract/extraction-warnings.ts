export const NO_TEXT =
  'No text was extracted: this kind of file is kept and can be downloaded, but only its title is searchable'
export const REPLACED_BYTES = 'The text is not valid in its encoding: the faulty bytes were replaced'
export const TABLE_AS_LINES = 'The table is not well-formed: its lines were read as plain text'

export function guessedEncoding(encoding: string): string {
  return `The encoding is not stated: the text was read as ${encoding}, which fits its bytes best`
}
export const UNSUPPORTED_FORMAT = 'Documents in this format cannot be read: only its title is searchable'
