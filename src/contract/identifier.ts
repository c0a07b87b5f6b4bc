/** The texts that may become part of an address: identifiers are opaque, but none may lead to another address. */

const MAX_LENGTH = 512

/** Returns whether a text can be an identifier: not empty, without control characters, and without a segment `.` or `..`, encoded or not. */
export function isIdentifier(text: string): boolean {
  return (
    /^[\w-]{1,100}$/.test(text) ||
    (text !== '' && text.length <= MAX_LENGTH && text.isWellFormed() && !leavesPath(text))
  )
}

/** Returns whether a path holds a control character or a segment `.` or `..`, also if it is decoded first, once or more often. */
export function leavesPath(text: string): boolean {
  const plain = text.replace(/%(?:25)*([0-7][0-9a-f])/gi, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  return /\p{Cc}/u.test(plain) || plain.split(/[/\\]/).some((segment) => segment === '.' || segment === '..')
}

/** The name of a field, without characters that are special in JSON, forms or headers. */
export const FIELD_NAME = /^[A-Za-z_][\w-]{0,99}$/
