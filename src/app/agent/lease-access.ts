import type { ResourceRecord } from '../../contract/records.ts'
import type { AgentAccess, DocumentText } from '../../embedded/agent/agent-access.ts'
import type { Download, ServiceClient } from '../../remote/service-client.ts'
import type { ServiceLease } from './service-lease.ts'

/** Originals of these types are the text that a reader wants; of others, the service's assets hold it. */
const PLAIN = /^(?:text\/(?!html)|application\/(?:json|yaml|toml|x-ndjson))/

/** Any service for agents, with the rights of the configured credential. */
export function accessThrough(lease: ServiceLease<ServiceClient>): AgentAccess {
  return {
    async *listLibraries(signal) {
      using held = await lease.hold()
      yield* held.client.listLibraries(signal)
    },
    async searchResources(search, signal) {
      using held = await lease.hold()
      return await held.client.searchResources(search, signal)
    },
    async *listDirectory(libraryId, path, signal) {
      using held = await lease.hold()
      yield* held.client.listDirectory(libraryId, path, signal)
    },
    async showResource(libraryId, resourceId, signal) {
      using held = await lease.hold()
      return await held.client.showResource(libraryId, resourceId, signal)
    },
    async readText(resource, maxLength, signal) {
      using held = await lease.hold()
      return await readText(held.client, resource, maxLength, signal)
    },
    async uploadFile({ bytes, ...upload }, signal) {
      using held = await lease.hold()
      return await held.client.uploadFile({ ...upload, sizeBytes: bytes.length, openBody: () => bytes }, signal)
    },
  }
}

async function readText(
  client: ServiceClient,
  { id, assets = [] }: ResourceRecord,
  maxLength: number,
  signal: AbortSignal,
): Promise<DocumentText> {
  const original = await client.downloadResource(id, signal)
  if (PLAIN.test(original.mime ?? '')) return { text: await textOf(original, maxLength) }
  await textOf(original, 0)
  let text = ''
  for (const asset of assets) {
    if (text.length >= maxLength) break
    const payload = await client.downloadAsset(asset.id, signal)
    const isText = /^text\//.test(payload.mime ?? '')
    text += isText ? `${await textOf(payload, maxLength - text.length)}\n` : await textOf(payload, 0)
  }
  return { text, notice: `Put together from the ${assets.length} parts that the service names; there may be more` }
}

/** Reads no further than `maxLength` characters, then ends the download. */
async function textOf({ body }: Download, maxLength: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of body) {
    text += decoder.decode(chunk, { stream: true })
    if (text.length >= maxLength) break
  }
  return text.slice(0, maxLength)
}
