export const REDACTED = '[secret]'

export interface Redactor {
  /** Makes `redact` replace `secret`, also escaped or in base64. */
  add(secret: string): void
  redact(text: string): string
}

export function createRedactor(): Redactor {
  const redactions = new Map<string, (text: string) => string>()
  return {
    add(secret) {
      if (!redactions.has(secret)) redactions.set(secret, createRedaction(secret))
    },
    redact(text) {
      let clean = text
      for (const redact of redactions.values()) clean = redact(clean)
      return clean
    },
  }
}

/** A shorter piece of base64 may match unrelated text. */
const MIN_BASE64_LENGTH = 8

/** Names of the characters that HTML escapes. */
const HTML_NAMES: Readonly<Record<string, string>> = { '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot', "'": 'apos' }

/**
 * Returns a function that replaces the secret in a text: as it is, escaped for JSON, a URL or HTML, in hexadecimal, and in base64, also
 * as part of `user:secret`. The secret must be printable ASCII.
 */
export function createRedaction(secret: string): (text: string) => string {
  if (secret === '') return (text) => text
  const plain = new RegExp(plainForms(secret).map(quote).join('|'), 'g')
  const hasEscapes = escapesWithin(secret)
  // Compiling takes milliseconds, and most texts have no escapes.
  let escaped: RegExp | undefined
  return (text) => {
    const clean = text.replace(plain, REDACTED)
    if (!hasEscapes.test(clean)) return clean
    escaped ??= new RegExp(Array.from(secret, encodingsOf).join(''), 'g')
    return clean.replace(escaped, REDACTED)
  }
}

/** Returns the secret itself and in base64 and hexadecimal, also with `/` and `+` escaped as in URLs and by some writers of JSON. */
function plainForms(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const hex = bytes.toString('hex')
  const forms = [...base64Forms(bytes), hex, hex.toUpperCase()]
  const inJson = forms.map((form) => form.replaceAll('/', '\\/'))
  return [...new Set([secret, ...forms, ...inJson, ...forms.map(encodeURIComponent)])]
}

/** Returns, for each of the three positions in a group of base64 where the secret can begin, the digits that it alone determines. */
function base64Forms(secret: Buffer): string[] {
  const forms = [0, 1, 2].map((shift) => {
    const bytes = Buffer.concat([Buffer.alloc(shift), secret])
    const wholeDigits = Math.floor((bytes.length * 8) / 6)
    return bytes.toString('base64').slice(shift === 0 ? 0 : shift + 1, wholeDigits)
  })
  const long = forms.filter((form) => form.length >= MIN_BASE64_LENGTH)
  return [...long, ...long.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))]
}

/** Returns a pattern for the beginning of any escape that a character of the secret may have. */
function escapesWithin(secret: string): RegExp {
  const marks = [...new Set(secret.replaceAll(/\w/g, ''))].map(quote).join('')
  return new RegExp(String.raw`\\[ux${marks}]|%[2-7]|&[#${Object.values(HTML_NAMES).join('')}]`)
}

function encodingsOf(character: string): string {
  const code = character.charCodeAt(0)
  const hex = code.toString(16).replace(/[a-f]/g, (digit) => `[${digit}${digit.toUpperCase()}]`)
  const name = HTML_NAMES[character]
  const named = name === undefined ? '' : `|${name}`
  return `(?:${[
    String.raw`\\{1,4}(?:u00|x)${hex}`,
    `%(?:25){0,3}${hex}`,
    `&(?:amp;){0,3}(?:#0{0,5}${code}|#[xX]0{0,5}${hex}${named});?`,
    // Escaping once or twice makes two or four backslashes of one, so only these numbers match.
    character === '\\'
      ? String.raw`\\{4}|\\{2}|\\`
      : `${/\w/.test(character) ? '' : String.raw`\\{0,3}`}${quote(character)}`,
  ].join('|')})`
}

function quote(text: string): string {
  return text.replace(/\W/g, (mark) => `\\x${mark.charCodeAt(0).toString(16)}`)
}
