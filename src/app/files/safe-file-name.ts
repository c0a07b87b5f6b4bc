const MAX_BYTES = 200
const RESERVED = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i

/**
 * Converts a remote name into the name of one local file: no separators, no control or reordering characters, not hidden, no
 * name that a system reserves, and short. All remote names pass it before they become local paths.
 */
export function safeFileName(name: string, otherwise = 'download'): string {
  const clean = name
    .toWellFormed()
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\ufffd]/gu, '')
    .replace(/[/\\:*?"<>|]/g, '_')
    .replace(/^[\s.~-]+|[\s.]+$/g, '')
  const short = shorten(clean)
  if (short === '') return otherwise
  return RESERVED.test(short) ? `_${short}` : short
}

/** Shortens the name to MAX_BYTES and keeps the extension. */
function shorten(name: string): string {
  const extension = /\.[^.]{1,16}$/.exec(name)?.[0] ?? ''
  let stem = name.slice(0, name.length - extension.length)
  while (Buffer.byteLength(stem + extension) > MAX_BYTES) stem = [...stem].slice(0, -1).join('')
  return (stem + extension).replace(/[\s.]+$/, '')
}
