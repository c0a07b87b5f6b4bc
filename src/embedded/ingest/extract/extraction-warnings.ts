export const NO_TEXT =
  'No text was extracted: this kind of file is kept and can be downloaded, but only its title is searchable'
export const REPLACED_BYTES = 'The text is not valid in its encoding: the faulty bytes were replaced'
