import { randomUUID } from 'node:crypto'

/** Returns a new opaque identifier of 32 hexadecimal digits. It begins with the time, so that an index holds new ones side by side. */
export function newIdentifier(nowMs: number): string {
  return nowMs.toString(16).padStart(12, '0') + randomUUID().replaceAll('-', '').slice(0, 20)
}

const VIDEO = 'video'

/** Returns the identifier of an asset. `part` is the ordinal of a passage of the resource, or `video`. */
export function assetIdentifier(resourceId: string, part: number | typeof VIDEO): string {
  return `${resourceId}.${part}`
}

/** Parses an identifier that `assetIdentifier` made; returns undefined for any other text. */
export function readAssetIdentifier(id: string): { resourceId: string; part: number | typeof VIDEO } | undefined {
  const [, resourceId, part] = /^([0-9a-f]+)\.(\d{1,9}|video)$/.exec(id) ?? []
  if (resourceId === undefined || part === undefined) return undefined
  return { resourceId, part: part === VIDEO ? VIDEO : Number(part) }
}
