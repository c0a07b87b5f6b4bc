import fc from 'fast-check'

const RANGES = [
  ...[
    [0, 9],
    [0xb, 0x1f],
    [0x7f, 0x9f],
    [0xad, 0xad],
    [0x34f, 0x34f],
    [0x61c, 0x61c],
    [0x115f, 0x1160],
  ],
  ...[
    [0x180e, 0x180e],
    [0x200b, 0x200f],
    [0x2028, 0x202e],
    [0x2060, 0x206f],
    [0x3164, 0x3164],
    [0xd800, 0xdfff],
  ],
  ...[
    [0xfeff, 0xfeff],
    [0xfff9, 0xfffb],
    [0xe0000, 0xe007f],
  ],
]

/** What a terminal would act upon, reorders text, or cannot be seen; a line end is none of it where lines are meant. */
export const DANGEROUS = new RegExp(
  `[${RANGES.map((range) => range.map((code) => `\\u{${code.toString(16)}}`).join('-')).join('')}]`,
  'u',
)

/** One of each kind: cursor, colour, C1, direction, isolates, nothing to see, ends of lines, tags, half a character. */
export const HOSTILE_MARKS: readonly string[] = [
  ...['\r', '\t', '\b', '\u0000', '\u001b[31m', '\u001b]0;title\u0007', '\u007f', '\u0085', '\u009b2J'],
  ...[
    '\u061c',
    '\u200e',
    '\u200f',
    '\u202a',
    '\u202b',
    '\u202c',
    '\u202d',
    '\u202e',
    '\u2066',
    '\u2067',
    '\u2068',
    '\u2069',
  ],
  ...[
    '\u00ad',
    '\u034f',
    '\u200b',
    '\u200c',
    '\u200d',
    '\u2060',
    '\u2061',
    '\ufeff',
    '\u180e',
    '\u115f',
    '\u3164',
    '\ufff9',
  ],
  ...['\u2028', '\u2029', '\u{e0041}', '\u{e007f}', '\ud800', '\udfff'],
]

/** Text of such marks among others, line ends and letters. */
export const hostileText: fc.Arbitrary<string> = fc.string({
  minLength: 1,
  maxLength: 30,
  unit: fc.constantFrom(
    ...HOSTILE_MARKS,
    '\n',
    '\r\n',
    'a',
    'é',
    '名',
    '🙂',
    '"',
    "'",
    '<',
    '&',
    '\\',
    ',',
    '=',
    '|',
    '/',
  ),
})
