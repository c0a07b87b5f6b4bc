/** The headers of one part of a form (RFC 7578). */
export interface PartHeaders {
  readonly field: string | undefined
  /** The file's name on the sender's side; undefined when the part is not a file. */
  readonly fileName: string | undefined
  /** Type and subtype in lower case, without parameters; undefined when none was given. */
  readonly mimeType: string | undefined
}

// A quotation mark behind a backslash ends the value only where a value can end.
const PARAMETER = /;\s*([\w-]+\*?)\s*=\s*(?:"((?:[^"]|(?<=\\)"(?!\s*(?:;|$)))*)"|([^;\s]*))/gy
// What browsers and fetch write for the three characters that would break a header (HTML, multipart form data).
const FORM_ESCAPES: Readonly<Record<string, string>> = { '%0a': '\n', '%0d': '\r', '%22': '"' }

export function readPartHeaders(text: string): PartHeaders {
  let disposition: ReadonlyMap<string, string> = new Map()
  let mimeType: string | undefined
  for (const line of text.split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, colon).trim().toLowerCase()
    const value = line.slice(colon + 1).trim()
    if (name === 'content-disposition') disposition = readParameters(value)
    if (name === 'content-type') mimeType = value.split(';', 1)[0]?.trim().toLowerCase()
  }
  return { field: disposition.get('name'), fileName: fileNameOf(disposition), mimeType }
}

function fileNameOf(disposition: ReadonlyMap<string, string>): string | undefined {
  const extended = /^utf-8'[^']*'(.*)$/i.exec(disposition.get('filename*') ?? '')?.[1]
  const name = (extended === undefined ? undefined : percentDecoded(extended)) ?? disposition.get('filename')
  return name?.slice(name.lastIndexOf('/') + 1)
}

function percentDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function readParameters(value: string): Map<string, string> {
  const parameters = new Map<string, string>()
  PARAMETER.lastIndex = Math.max(0, value.indexOf(';'))
  for (let match = PARAMETER.exec(value); match; match = PARAMETER.exec(value)) {
    const [, name = '', quoted, plain = ''] = match
    parameters.set(name.toLowerCase(), quoted === undefined ? plain : unquoted(quoted))
  }
  return parameters
}

/** A backslash escapes only a quotation mark: before anything else it belongs to the name. */
function unquoted(text: string): string {
  return text.replace(/\\"/g, '"').replace(/%0a|%0d|%22/gi, (code) => FORM_ESCAPES[code.toLowerCase()] ?? code)
}
