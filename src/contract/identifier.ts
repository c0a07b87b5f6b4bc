/** Identifiers become parts of addresses. They are opaque, but an identifier must not lead to another address. */

const MAX_LENGTH = 512

/** Returns whether a text can be an identifier: not empty, no control characters, and no segment `.` or `..`, encoded or not. */
export function isIdentifier(text: string): boolean {
  return (
    /^[\w-]{1,100}$/.test(text) ||
    (text !== '' && text.length <= MAX_LENGTH && text.isWellFormed() && !leavesPath(text))
  )
}

/** Returns whether a path holds a control character or a segment `.` or `..`, plain or percent-encoded, also repeatedly (`%252e`). */
export function leavesPath(text: string): boolean {
  let plain = text
  for (let before = ''; plain !== before; ) {
    before = plain
    plain = before.replace(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
  }
  return /\p{Cc}/u.test(plain) || plain.split(/[/\\]/).some((segment) => segment === '.' || segment === '..')
}

/** Matches names of fields that contain no special character of JSON, forms or headers. */
export const FIELD_NAME = /^[A-Za-z_][\w-]{0,99}$/
