import { randomUUID } from 'node:crypto'

/** A new opaque identifier: its first half is the time, so that neighbours in time are neighbours in an index. */
export function newIdentifier(nowMs: number): string {
  return nowMs.toString(16).padStart(12, '0') + randomUUID().replaceAll('-', '').slice(0, 20)
}

const VIDEO = 'video'

/** The identifier of an asset: that of its resource, and which passage it is, or `video` for its moving pictures. */
export function assetIdentifier(resourceId: string, part: number | typeof VIDEO): string {
  return `${resourceId}.${part}`
}

/** Reads what `assetIdentifier` wrote; undefined for any other text. */
export function readAssetIdentifier(id: string): { resourceId: string; part: number | typeof VIDEO } | undefined {
  const [, resourceId, part] = /^([0-9a-f]+)\.(\d{1,9}|video)$/.exec(id) ?? []
  if (resourceId === undefined || part === undefined) return undefined
  return { resourceId, part: part === VIDEO ? VIDEO : Number(part) }
}
