/** What stands in the place of a secret. */
export const REDACTED = '[secret]'

/** A piece of base64 that is shorter may be anything. */
const SHORTEST_BASE64 = 8

/** How HTML names what it must not hold as it is. */
const HTML_NAMES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/**
 * Replaces `secret` wherever a text repeats it: as it is, escaped for JSON, an address or HTML (any character of it, also
 * twice over), in base64 also behind something else, as `user:secret`, or in hexadecimal. For printable ASCII.
 */
export function createRedaction(secret: string): (text: string) => string {
  if (secret === '') return (text) => text
  const plain = new RegExp(plainForms(secret).map(quote).join('|'), 'g')
  const hasEscapes = escapesWithin(secret)
  // Compiling it takes milliseconds, and most texts have no escapes.
  let escaped: RegExp | undefined
  return (text) => {
    const clean = text.replace(plain, REDACTED)
    if (!hasEscapes.test(clean)) return clean
    escaped ??= new RegExp(Array.from(secret, encodingsOf).join(''), 'g')
    return clean.replace(escaped, REDACTED)
  }
}

/** Forms that are made of the secret as a whole; slashes are escaped in JSON by some, and pluses in addresses. */
function plainForms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  const forms = [...base64Forms(bytes), hex, hex.toUpperCase()]
  const inJson = forms.map((form) => form.replaceAll('/', '\\/'))
  return [...new Set([secret, ...forms, ...inJson, ...forms.map(encodeURIComponent)])]
}

/** What is the same in base64 whatever stands before and behind, for each of the three places where it can begin. */
function base64Forms(secret: Buffer): string[] {
  const forms = [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), secret])
    const whole = Math.floor((bytes.length * 8) / 6)
    return bytes.toString('base64').slice(shift === 0 ? 0 : shift + 1, whole)
  })
  const long = forms.filter((form) => form.length >= SHORTEST_BASE64)
  return [...long, ...long.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

/** Finds the beginning of any escape that a character of the secret may have. */
function escapesWithin(secret: string): RegExp {
  const marks = [...new Set(secret.replaceAll(/\w/g, ''))].map(quote).join('')
  return new RegExp(String.raw`\\[ux${marks}]|%[2-7]|&[#${Object.values(HTML_NAMES).join('')}]`)
}

/** Each way to write one character, as a regular expression. */
function encodingsOf(character: string): string {
  const code = character.charCodeAt(0)
  const hex = code.toString(16).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
  const name = HTML_NAMES[character]
  const named = name === undefined ? '' : `|${name}`
  return `(?:${[
    String.raw`\\{1,4}(?:u00|x)${hex}`,
    `%(?:25){0,3}${hex}`,
    `&(?:amp;){0,3}(?:#0{0,5}${code}|#[xX]0{0,5}${hex}${named});?`,
    // A backslash may be the character itself: as many of them as escaping makes of one, so that no two ways fit a place.
    character === '\\'
      ? String.raw`\\{4}|\\{2}|\\`
      : `${/\w/.test(character) ? '' : String.raw`\\{0,3}`}${quote(character)}`,
  ].join('|')})`
}

/** As a regular expression that means just this text. */
function quote(text: string): string {
  return text.replace(/\W/g, (mark) => `\\x${mark.charCodeAt(0).toString(16)}`)
}
