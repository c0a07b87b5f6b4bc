/** How to extract the text of a file; an `unknown` file is read as text if it is valid text, a `binary` one is not read. */
export type ContentKind = 'text' | 'html' | 'csv' | 'unknown' | 'binary'

const BY_TYPE: Readonly<Record<string, ContentKind>> = {
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/csv': 'csv',
  'text/tab-separated-values': 'csv',
  'application/json': 'text',
  'application/xml': 'text',
  'application/yaml': 'text',
  'application/toml': 'text',
  'application/sql': 'text',
  'application/javascript': 'text',
  'application/pdf': 'binary',
  'application/zip': 'binary',
  'application/gzip': 'binary',
  'application/msword': 'binary',
}

/** Decides by the MIME type alone. */
export function kindOf(mimeType: string): ContentKind {
  const known = BY_TYPE[mimeType]
  if (known) return known
  if (mimeType.startsWith('text/') || /\+(json|xml|yaml)$/.test(mimeType)) return 'text'
  if (/^(image|audio|video|font)\//.test(mimeType)) return 'binary'
  return /^application\/vnd\.(openxmlformats|oasis|ms-)/.test(mimeType) ? 'binary' : 'unknown'
}
