import { addressOf } from '../common/address.ts'

export const LIBRARIES_ADDRESS = '#/'

export function directoryAddress(library: string, path: string, query: Readonly<Record<string, string>> = {}): string {
  return addressOf('files', query, [library, ...path.split('/')])
}

interface DocumentQuery {
  /** The position of the passage to show first; empty for the beginning. */
  readonly at?: string
  /** The words to mark. */
  readonly word?: readonly string[]
}

export function documentAddress(library: string, resource: string, query: DocumentQuery = {}): string {
  return addressOf('documents', { ...query }, [library, resource])
}
